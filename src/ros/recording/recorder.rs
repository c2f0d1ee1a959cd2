//! Records published data. The publishing thread builds messages and a separate thread writes them, so that a
//! slow disk loses recorded messages but never a publication or a step.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::io::bag::{BagEncoder, BagError, BagPlan, BagWriter, Batch, Topic, write_batch};
use crate::recording::{Due, Outputs};
use crate::ros::exchange::health::{RecordingState, RecordingStatus};
use crate::ros::log::causes::with_causes;
use crate::ros::log::throttle::{Throttle, suppressed_suffix};
use crate::ros::scheduling::ordinary;
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// Number of batches in flight to the disk: half a second at 1 kHz.
const BATCHES: usize = 512;
/// The interval at which the file is brought up to date, so that a killed node loses no more than this.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);
/// The longest wait of the writing thread, and so the delay with which a file is completed.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// The largest number of threads that write files of earlier worlds and of the present one: each has a queue
/// of messages, which stays while the disk does not answer.
const WRITERS_MAX: usize = 32;
/// The name of such a thread.
const THREAD: &str = "recording";

/// The name of the recording's disk in log lines.
const DISK: &str = "recording";

/// Messages of one instant, on their way to the disk.
struct FilledBuffer {
    batch: Batch,
    /// Whether a new file begins with it, because time has gone back.
    begins: bool,
}

/// The publishing thread's end of the queue.
pub(crate) struct Recorder {
    encoder: BagEncoder,
    spare: Receiver<Batch>,
    filled: SyncSender<FilledBuffer>,
    /// The time of the last instant \[ns\], once there is one.
    last_ns: Option<u64>,
    status: Arc<RecordingStatus>,
    lost: Throttle,
}

/// The writing thread's end of the queue.
struct RecorderDisk {
    /// The requested file; later ones are in the same folder.
    asked: PathBuf,
    topics: Vec<Topic>,
    /// The present file, unless the recording is off.
    writer: Option<BagWriter>,
    /// The latched messages, with which each file begins.
    latched: Batch,
    /// Whether the present file lacks them.
    empty: bool,
    filled: Receiver<FilledBuffer>,
    spare: SyncSender<Batch>,
    /// Its number among the recorders.
    number: u64,
    status: Arc<RecordingStatus>,
}

/// Creates `file` or, if it exists, the first file that does not exist yet: `run_2.mcap` and so on beside
/// `run.mcap`.
fn create(file: &Path, topics: &[Topic], recorder: u64, status: &RecordingStatus) -> Result<BagWriter, BagError> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = file.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let mut free = file.to_path_buf();
    let mut number = 1;
    let writer = loop {
        match status.disk.during(DISK, || BagWriter::create_new(&free, topics)) {
            Err(BagError::Create { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {
                number += 1;
                free.set_file_name(format!("{stem}_{number}{ending}"));
            }
            made => break made?,
        }
    };
    let kept = if number > 1 { format!("; {} exists already", file.display()) } else { String::new() };
    tracing::info!("recording to {}{kept}", free.display());
    status.began(recorder, &free);
    Ok(writer)
}

/// The recording of a node, in one or more files: the topics of a file are those of its world, and its times
/// never decrease.
pub(crate) struct Recording {
    file: PathBuf,
    plan: BagPlan,
    disks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    status: Arc<RecordingStatus>,
}

impl Recording {
    /// Records to `file`, or to the next free name in the same folder: `run_2.mcap` after `run.mcap`. Another
    /// world, a reset of time and a pause of the recording begin a new file. `disks` are the threads that
    /// write the files.
    pub(crate) fn new(
        file: PathBuf,
        plan: BagPlan,
        disks: Arc<Mutex<Vec<JoinHandle<()>>>>,
        status: Arc<RecordingStatus>,
    ) -> Self {
        Self { file, plan, disks, status }
    }

    /// The recorder of the first world. Its file is created before this returns.
    ///
    /// # Errors
    /// A file that cannot be created.
    pub(crate) fn first(
        &mut self,
        scene: &Scene,
        outputs: &Outputs,
        descriptions: &[(String, String)],
    ) -> Result<Recorder, BagError> {
        let encoder = BagEncoder::new(scene, outputs, descriptions, &self.plan);
        let number = self.status.take_over();
        let writer = match self.status.is_paused() {
            true => None,
            false => Some(create(&self.file, encoder.topics(), number, &self.status)?),
        };
        Ok(self.recorder(encoder, number, writer, false))
    }

    /// The recorder of another world; `None` once the recording has ended. The thread that writes its file
    /// also creates it, because the disk may not answer.
    pub(crate) fn next(
        &mut self,
        scene: &Scene,
        outputs: &Outputs,
        descriptions: &[(String, String)],
    ) -> Option<Recorder> {
        if let RecordingState::Stopped(_) = self.status.state() {
            return None;
        }
        let number = self.status.take_over();
        if self.writers() >= WRITERS_MAX {
            let reason =
                format!("recording: {WRITERS_MAX} worlds wait for the disk, which does not answer or is too slow");
            self.status.stop(number, reason);
            return None;
        }
        let encoder = BagEncoder::new(scene, outputs, descriptions, &self.plan);
        Some(self.recorder(encoder, number, None, !self.status.is_paused()))
    }

    /// The number of threads that write the files of this world and of earlier ones.
    fn writers(&self) -> usize {
        let disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        disks.iter().filter(|disk| disk.thread().name() == Some(THREAD) && !disk.is_finished()).count()
    }

    /// A recorder and the thread that writes its file: `writer`, or one that it creates first.
    fn recorder(&mut self, encoder: BagEncoder, number: u64, writer: Option<BagWriter>, creates: bool) -> Recorder {
        let topics = encoder.topics().to_vec();
        let mut latched = Batch::default();
        encoder.latched(&mut latched);
        let (filled_sender, filled) = sync_channel(BATCHES);
        let (spare_sender, spare) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            // The channel has room for all batches.
            let _ = spare_sender.try_send(Batch::default());
        }
        let (asked, status) = (self.file.clone(), self.status.clone());
        let of_recorder = status.clone();
        let disk =
            RecorderDisk { asked, topics, writer, latched, empty: true, filled, spare: spare_sender, number, status };
        let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
            ordinary();
            disk.run(creates)
        });
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        // The threads of earlier worlds end by themselves.
        disks.retain(|disk| !disk.is_finished());
        match thread {
            Ok(thread) => disks.push(thread),
            Err(error) => self.status.stop(number, format!("recording: {error}")),
        }
        let (status, lost) = (of_recorder, Throttle::default());
        Recorder { encoder, spare, filled: filled_sender, last_ns: None, status, lost }
    }
}

impl Recorder {
    /// Records the parts of `snapshot` that are due; `outputs` are the values of the scene's outputs. If time
    /// has gone back, a new file begins.
    pub(crate) fn record(&mut self, due: Due, snapshot: &Snapshot, outputs: &[f64]) {
        if !due.any() {
            return;
        }
        if self.status.is_paused() {
            // The recording goes on in a new file, also if time does not go back.
            self.last_ns = None;
            return;
        }
        let mut batch = match self.spare.try_recv() {
            Ok(batch) => batch,
            // The writing thread has ended, and has logged the reason.
            Err(TryRecvError::Disconnected) => return,
            // A disk that does not answer is reported once, by the diagnostics.
            Err(TryRecvError::Empty) if self.status.disk.stalled().is_some() => return,
            Err(TryRecvError::Empty) => {
                if let Some(suppressed) = self.lost.due(Instant::now()) {
                    let more = suppressed_suffix(suppressed);
                    tracing::warn!(
                        "the disk is too slow: an instant is missing in the recording; lower the rates, or record to \
                         another disk{more}"
                    );
                }
                return;
            }
        };
        batch.restart(snapshot.time_ns);
        let earlier = self.last_ns.is_some_and(|last_ns| snapshot.time_ns < last_ns);
        self.last_ns = Some(snapshot.time_ns);
        self.encoder.write(due, snapshot, outputs, &mut batch);
        // The channel has room for every batch unless the writing thread has ended, which it has logged.
        let _ = self.filled.try_send(FilledBuffer { batch, begins: earlier });
    }
}

impl RecorderDisk {
    /// Writes until the other end is dropped, then closes the file. With `creates`, it creates the file
    /// first. After a failure nothing more is recorded.
    fn run(mut self, creates: bool) {
        if creates && let Err(error) = self.begin() {
            self.status.stop(self.number, format!("{}, so the new world is not recorded", with_causes(&error)));
        } else if let Err(error) = self.write_all().and_then(|()| self.finish()) {
            self.status.stop(self.number, with_causes(&error));
        }
    }

    /// Creates the next file.
    fn begin(&mut self) -> Result<(), BagError> {
        self.writer = Some(create(&self.asked, &self.topics, self.number, &self.status)?);
        self.empty = true;
        Ok(())
    }

    /// Completes the present file.
    fn finish(&mut self) -> Result<(), BagError> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        self.status.disk.during(DISK, || writer.finish())
    }

    /// The present file, and whether it has its name on the disk.
    fn present(&self) -> Option<(PathBuf, bool)> {
        let file = self.writer.as_ref()?.file().to_path_buf();
        let exists = self.status.disk.during(DISK, || file.exists());
        Some((file, exists))
    }

    fn write_all(&mut self) -> Result<(), BagError> {
        let mut flushed = Instant::now();
        let mut dirty = true;
        // The file that is gone, once this was logged.
        let mut gone = None;
        loop {
            let received = self.filled.recv_timeout(WAIT_MAX);
            let all_written = received.is_err();
            match received {
                Ok(FilledBuffer { batch, begins }) => {
                    // A file without a message needs no other one: it was begun after time had gone back.
                    if begins && !self.empty {
                        self.finish()?;
                    }
                    if self.writer.is_none() && !self.status.is_paused() {
                        self.begin()?;
                    }
                    if let Some(writer) = &mut self.writer {
                        if std::mem::take(&mut self.empty) {
                            self.latched.time_ns = batch.time_ns;
                            self.status.disk.during(DISK, || write_batch(writer, &self.latched))?;
                        }
                        self.status.disk.during(DISK, || write_batch(writer, &batch))?;
                        dirty = true;
                    }
                    let _ = self.spare.try_send(batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if let Some(number) = self.status.waiting_switch(self.number) {
                self.switch(number, all_written)?;
            }
            if dirty && flushed.elapsed() >= FLUSH_PERIOD {
                self.status.disk.during(DISK, || self.writer.as_mut().map_or(Ok(()), BagWriter::flush))?;
                (flushed, dirty) = (Instant::now(), false);
                if let Some((file, false)) = self.present()
                    && gone.as_ref() != Some(&file)
                {
                    tracing::error!("{}: messages are recorded to a file without a name", missing(&file));
                    gone = Some(file);
                }
            }
        }
    }

    /// Answers a request to switch the recording. A file is completed once `all_written` is true: everything
    /// that was sent before is written.
    fn switch(&mut self, number: u64, all_written: bool) -> Result<(), BagError> {
        let present = self.present();
        let outcome = match (self.status.is_paused(), present) {
            (true, Some(_)) if !all_written => return Ok(()),
            (true, Some((file, exists))) => {
                self.finish()?;
                self.status.completed(self.number);
                if exists {
                    Ok(format!("{} is complete; the recording is off", file.display()))
                } else {
                    Err(missing(&file))
                }
            }
            (true, None) => Ok("the recording is off".to_owned()),
            (false, Some((file, true))) => Ok(format!("recording to {}", file.display())),
            (false, _) => {
                self.finish()?;
                self.begin()?;
                Ok(self.present().map_or_else(String::new, |(file, _)| format!("recording to {}", file.display())))
            }
        };
        self.status.switched(number, outcome);
        Ok(())
    }
}

fn missing(file: &Path) -> String {
    format!("{} was removed or renamed while it was written", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::package::PackageMap;
    use crate::io::scene_file::{self, LoadedScene};

    fn loaded() -> LoadedScene {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ros/scenes/press.yaml");
        scene_file::load(&file, &PackageMap::new()).unwrap()
    }

    fn recording(file: &Path) -> Recording {
        let (node, world_frame) = ("/isobar".to_owned(), "world".to_owned());
        let plan = BagPlan { node, namespace: String::new(), world_frame, renamed: Vec::new() };
        Recording::new(file.to_path_buf(), plan, Arc::default(), Arc::default())
    }

    /// The disk was full: another world begins no file, and the reason stays.
    #[test]
    fn a_recording_that_has_ended_stays_so_in_other_worlds() {
        let (loaded, mut recording) = (loaded(), recording(Path::new("/nowhere/run.mcap")));
        let number = recording.status.take_over();
        recording.status.stop(number, "no space".to_owned());
        for _ in 0..2 {
            assert!(recording.next(&loaded.scene, &loaded.outputs, &[]).is_none());
        }
        assert!(matches!(recording.status.state(), RecordingState::Stopped(reason) if reason == "no space"));
        assert!(recording.disks.lock().unwrap().is_empty(), "no thread");
    }

    /// The threads of earlier worlds wait for a disk that does not answer, each with its queue.
    #[test]
    fn worlds_that_wait_for_the_disk_are_limited() {
        let (loaded, mut recording) = (loaded(), recording(Path::new("/nowhere/run.mcap")));
        let (_answers, disk) = sync_channel::<()>(0);
        let disk = Arc::new(Mutex::new(disk));
        for _ in 0..WRITERS_MAX {
            let disk = disk.clone();
            let wait = move || drop(disk.lock().map(|disk| disk.recv()));
            let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(wait).unwrap();
            recording.disks.lock().unwrap().push(thread);
        }
        assert!(recording.next(&loaded.scene, &loaded.outputs, &[]).is_none());
        assert!(matches!(recording.status.state(), RecordingState::Stopped(_)));
    }

    /// Regression, observed on the built node: the file that the service had named was closed without a
    /// message, and the messages went to the next one.
    #[test]
    fn a_recording_switched_on_after_a_reset_of_time_goes_on_in_its_file() {
        let folder = std::env::temp_dir().join(format!("isobar_recorder_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (loaded, mut recording) = (loaded(), recording(&folder.join("run.mcap")));
        let mut recorder = recording.first(&loaded.scene, &loaded.outputs, &[]).unwrap();
        let switch = |on: bool| {
            let number = recording.status.switch(on);
            let outcome = std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(1));
                recording.status.switch_outcome(number)
            });
            outcome.take(30_000).flatten().next().unwrap().unwrap()
        };
        let simulation =
            crate::stepping::Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings);
        let mut snapshot = Snapshot::default();
        simulation.unwrap().snapshot_into(&mut snapshot);
        let values = vec![0.0; loaded.outputs.outputs().len()];
        let mut record = |time_ns| {
            snapshot.time_ns = time_ns;
            recorder.record(Due::ALL, &snapshot, &values);
        };
        record(1_000_000_000);
        switch(false);
        let answer = switch(true);
        assert!(answer.ends_with("run_2.mcap"), "{answer}");
        record(0);
        record(1_000_000);
        drop(recorder);
        for thread in recording.disks.lock().unwrap().drain(..) {
            thread.join().unwrap();
        }
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
        let length = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
        assert!(files.len() == 2 && length("run_2.mcap") > length("run.mcap"), "{files:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
