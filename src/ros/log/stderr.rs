//! Log lines on their way to stderr. A separate thread writes them, so that a slow reader of stderr never
//! delays the thread that logs.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of lines that wait for stderr; further lines are lost, and counted.
const LINES: usize = 1024;
/// The time for which the end of the process waits for lines that are not yet written.
const END_TIMEOUT: Duration = Duration::from_secs(1);

enum Entry {
    Line(Vec<u8>),
    /// Its sender is dropped once all lines before it are written.
    End(#[allow(dead_code)] std::sync::mpsc::Sender<()>),
}

/// The sending end of the queue, for the threads that log.
#[derive(Clone)]
pub(super) struct StderrQueue {
    entries: SyncSender<Entry>,
    lost: Arc<AtomicU64>,
}

static QUEUE: Mutex<Option<StderrQueue>> = Mutex::new(None);

impl StderrQueue {
    /// Starts the thread that writes to `sink`.
    pub(super) fn start(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, entries) = sync_channel(LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(&entries, &counted, sink))?;
        let queue = Self { entries: sender, lost };
        *QUEUE.lock().unwrap_or_else(PoisonError::into_inner) = Some(queue.clone());
        Ok(queue)
    }

    /// Waits until the lines so far are written, or a second is over.
    fn finish(&self) {
        let (ended, written) = channel();
        if self.entries.try_send(Entry::End(ended)).is_ok() {
            // The other end is dropped, which ends the wait.
            let _ = written.recv_timeout(END_TIMEOUT);
        }
    }
}

/// Takes one line with each call.
impl Write for StderrQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.entries.try_send(Entry::Line(line.to_vec())) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(entries: &Receiver<Entry>, lost: &AtomicU64, mut sink: impl Write) {
    while let Ok(entry) = entries.recv() {
        match entry {
            // If stderr is closed, the line is lost.
            Entry::Line(line) => drop(sink.write_all(&line)),
            Entry::End(ended) => drop((sink.flush(), ended)),
        }
        let count = lost.swap(0, Ordering::Relaxed);
        if count > 0 {
            drop(writeln!(sink, "{count} log lines are missing here: stderr was not read in time"));
        }
    }
}

/// Waits, at the end of the process, for the log lines that are on their way to stderr.
pub fn finish_log() {
    let queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(queue) = queue {
        queue.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that reads nothing until it is released, and then everything.
    struct Slow(Receiver<()>, std::sync::mpsc::Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_thread_waits_for_a_reader_and_lost_lines_are_counted() {
        let (go, gate) = channel();
        let (sender, written) = channel();
        let mut queue = StderrQueue::start(Slow(gate, sender)).unwrap();
        // The first line may be on its way to the reader, which leaves room for another one.
        for _ in 0..LINES + 10 {
            queue.write_all(b"line\n").unwrap();
        }
        drop(go);
        let mut text = String::new();
        while !text.contains("missing") {
            text.push_str(&String::from_utf8(written.recv_timeout(Duration::from_secs(60)).unwrap()).unwrap());
        }
        assert!(text.starts_with("line\n") && (text.contains("9 log lines") || text.contains("10 log")), "{text}");
        queue.finish();
    }
}
