//! Log lines on stderr and on /rosout.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::console::{Message, RosFormat, level_argument, node_name};
use super::stderr::StderrQueue;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The number of lines that wait for /rosout; further lines go to stderr only.
const LINES: usize = 256;

/// A line for /rosout.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// As in rcl_interfaces/Log.
    pub(crate) level: u8,
    pub(crate) text: String,
}

thread_local! {
    /// Whether this thread is publishing on /rosout. A line logged then stays off /rosout, because it would
    /// cause another one, and so on.
    static PUBLISHING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `publish` for the lines that wait now. The log lines of `publish` go to stderr only. Its failures
/// are not logged, because those lines would fail, too.
pub(crate) fn publish_lines<E>(lines: &Receiver<Line>, mut publish: impl FnMut(Line) -> Result<(), E>) {
    for line in lines.try_iter().take(LINES) {
        PUBLISHING.set(true);
        let _ = publish(line);
        PUBLISHING.set(false);
    }
}

struct RosoutLayer {
    lines: SyncSender<Line>,
}

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if PUBLISHING.get() {
            return;
        }
        let level = match *event.metadata().level() {
            Level::ERROR => 40,
            Level::WARN => 30,
            Level::INFO => 20,
            // Debug lines go to stderr only.
            Level::DEBUG | Level::TRACE => return,
        };
        let mut message = Message(String::new());
        event.record(&mut message);
        // If the queue is full the line goes to stderr only, so that logging never waits.
        let _ = self.lines.try_send(Line { level, text: message.0 });
    }
}

static LINES_OF_THE_PROCESS: Mutex<Option<Receiver<Line>>> = Mutex::new(None);

/// Sends log lines to stderr, in the format of ROS, and to /rosout. The argument `--log-level` sets the
/// level, or else `RUST_LOG` does. Call it once per process. `name` is the name of the node unless arguments
/// rename it.
pub fn init_log(name: &str) {
    // Arguments that are not text in UTF-8 are refused later.
    let arguments = || std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let name = node_name(arguments(), name);
    let (level, unknown) = level_argument(arguments(), &name);
    let filter = match level {
        Some(level) => tracing_subscriber::EnvFilter::new(level),
        None => tracing_subscriber::EnvFilter::try_from_default_env()
            .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info")),
    };
    let (sender, receiver) = sync_channel(LINES);
    let colors = std::io::stderr().is_terminal();
    let writer: Box<dyn Fn() -> Box<dyn Write> + Send + Sync> = match StderrQueue::start(std::io::stderr()) {
        Ok(queue) => Box::new(move || Box::new(queue.clone())),
        // Without that thread, the threads that log write their lines themselves.
        Err(_) => Box::new(|| Box::new(std::io::stderr())),
    };
    let stderr =
        tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colors).event_format(RosFormat { name });
    let layers = tracing_subscriber::registry().with(filter).with(stderr).with(RosoutLayer { lines: sender });
    if layers.try_init().is_ok() {
        *LINES_OF_THE_PROCESS.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(receiver);
    }
    if let Some(unknown) = unknown {
        tracing::warn!("--log-level {unknown}: the levels are debug, info, warn, error and fatal");
    }
}

/// The log lines of this process, for the publishing thread.
pub(crate) fn take_lines() -> Option<Receiver<Line>> {
    LINES_OF_THE_PROCESS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A publisher that fails and logs each failure, as the client library does, gets each line once: its own
    /// lines are not published in their turn.
    #[test]
    fn a_publisher_that_fails_does_not_log_about_itself_without_end() {
        let (sender, lines) = sync_channel(LINES);
        let subscriber = tracing_subscriber::registry().with(RosoutLayer { lines: sender });
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!("one");
            tracing::info!("two");
            let mut failed = Vec::new();
            for _ in 0..3 {
                publish_lines(&lines, |line| {
                    tracing::error!("could not publish '{}'", line.text);
                    failed.push(line.text);
                    Err(())
                });
            }
            assert_eq!(failed, ["one", "two"]);
            tracing::info!("three");
        });
        let texts: Vec<String> = lines.try_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["three"]);
    }
}
