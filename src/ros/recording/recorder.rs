//! Records published data. The publishing thread builds messages and a separate thread writes them, so that a
//! slow disk loses recorded messages but never a publication or a step.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::io::bag::{BagEncoder, BagError, BagPlan, BagWriter, Batch, write_batch};
use crate::recording::{Due, Outputs};
use crate::ros::log::throttle::{Throttle, and_more};
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// Number of batches in flight to the disk: half a second at 1 kHz.
const BATCHES: usize = 512;

/// The end of the publishing thread.
pub(crate) struct Recorder {
    encoder: BagEncoder,
    spare: Receiver<Batch>,
    filled: SyncSender<Batch>,
    started: bool,
    lost: Throttle,
}

/// The end of the writing thread.
struct RecorderDisk {
    writer: BagWriter,
    filled: Receiver<Batch>,
    spare: SyncSender<Batch>,
}

/// Creates the file and both ends.
fn recorder(file: &Path, encoder: BagEncoder) -> Result<(Recorder, RecorderDisk), BagError> {
    let writer = BagWriter::create(file, encoder.topics())?;
    let (filled_sender, filled) = sync_channel(BATCHES);
    let (spare_sender, spare) = sync_channel(BATCHES);
    for _ in 0..BATCHES {
        // The channel has room for all batches.
        let _ = spare_sender.try_send(Batch::default());
    }
    let recorder = Recorder { encoder, spare, filled: filled_sender, started: false, lost: Throttle::default() };
    Ok((recorder, RecorderDisk { writer, filled, spare: spare_sender }))
}

/// One recording per world: the topics of a file are those of its world.
pub(crate) struct Recording {
    file: PathBuf,
    plan: BagPlan,
    disks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    made: usize,
}

impl Recording {
    /// Records to `file`, and for later worlds to files beside it: `run_2.mcap` after `run.mcap`. `disks` are
    /// the threads that write them.
    pub(crate) fn new(file: PathBuf, plan: BagPlan, disks: Arc<Mutex<Vec<JoinHandle<()>>>>) -> Self {
        Self { file, plan, disks, made: 0 }
    }

    /// The recorder of another world.
    pub(crate) fn next(
        &mut self,
        scene: &Scene,
        outputs: &Outputs,
        descriptions: &[(String, String)],
    ) -> Result<Recorder, BagError> {
        self.made += 1;
        let mut file = self.file.clone();
        if self.made > 1 {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let ending = file.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
            file.set_file_name(format!("{stem}_{}{ending}", self.made));
            tracing::info!("the recording continues in {}", file.display());
        }
        let (recorder, disk) = recorder(&file, BagEncoder::new(scene, outputs, descriptions, &self.plan))?;
        let thread = std::thread::Builder::new().name("recording".to_owned()).spawn(move || disk.run());
        match thread {
            Ok(thread) => self.disks.lock().unwrap_or_else(PoisonError::into_inner).push(thread),
            Err(error) => tracing::error!("recording: {error}. Nothing is recorded"),
        }
        Ok(recorder)
    }
}

impl Recorder {
    /// Records the parts of `snapshot` that are due; `outputs` are the values of the scene's outputs.
    pub(crate) fn record(&mut self, due: Due, snapshot: &Snapshot, outputs: &[f64]) {
        if !due.any() {
            return;
        }
        let Ok(mut batch) = self.spare.try_recv() else {
            if let Some(suppressed) = self.lost.due(Instant::now()) {
                tracing::warn!("the disk is too slow: the recording lacks an instant{}", and_more(suppressed));
            }
            return;
        };
        batch.restart(snapshot.time_ns);
        if !std::mem::replace(&mut self.started, true) {
            self.encoder.latched(&mut batch);
        }
        self.encoder.write(due, snapshot, outputs, &mut batch);
        // The channel has room for every batch unless the writing thread has ended, which it has logged.
        let _ = self.filled.try_send(batch);
    }
}

impl RecorderDisk {
    /// Writes until the other end is dropped, then closes the file.
    fn run(self) {
        let Self { mut writer, filled, spare } = self;
        while let Ok(batch) = filled.recv() {
            if let Err(error) = write_batch(&mut writer, &batch) {
                tracing::error!("{error}. The recording has ended");
                return;
            }
            let _ = spare.try_send(batch);
        }
        if let Err(error) = writer.finish() {
            tracing::error!("{error}");
        }
    }
}
