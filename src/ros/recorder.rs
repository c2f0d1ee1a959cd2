//! Recording what is published. Messages are made by the publishing thread and written by a thread of their own, so that
//! a slow disk costs recorded messages, never a publication or a step.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::throttle::{Throttle, and_more};
use crate::io::bag::{BagEncoder, BagError, BagPlan, BagWriter, Batch, write_batch};
use crate::io::outputs::Outputs;
use crate::io::rates::Due;
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// Instants on their way to the disk: half a second at 1 kHz.
const BATCHES: usize = 512;

/// The publishing thread's end.
pub(super) struct Recorder {
    encoder: BagEncoder,
    spare: Receiver<Batch>,
    filled: SyncSender<Batch>,
    started: bool,
    lost: Throttle,
}

/// The disk's end.
struct RecorderDisk {
    writer: BagWriter,
    filled: Receiver<Batch>,
    spare: SyncSender<Batch>,
}

/// Makes the file and both ends.
fn recorder(file: &Path, encoder: BagEncoder) -> Result<(Recorder, RecorderDisk), BagError> {
    let writer = BagWriter::create(file, encoder.topics())?;
    let (filled_sender, filled) = sync_channel(BATCHES);
    let (spare_sender, spare) = sync_channel(BATCHES);
    for _ in 0..BATCHES {
        // A channel with room for all of them takes all of them.
        let _ = spare_sender.try_send(Batch::default());
    }
    let recorder = Recorder { encoder, spare, filled: filled_sender, started: false, lost: Throttle::default() };
    Ok((recorder, RecorderDisk { writer, filled, spare: spare_sender }))
}

/// One recording a world: the topics of a file are those of its world.
pub(super) struct Recording {
    file: PathBuf,
    plan: BagPlan,
    disks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    made: usize,
}

impl Recording {
    /// Recordings to `file`, and to files beside it for later worlds: `run_2.mcap` after `run.mcap`. `disks` are the threads
    /// that write them.
    pub(super) fn new(file: PathBuf, plan: BagPlan, disks: Arc<Mutex<Vec<JoinHandle<()>>>>) -> Self {
        Self { file, plan, disks, made: 0 }
    }

    /// The recorder of another world.
    pub(super) fn next(
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
            tracing::info!("the recording goes on in {}", file.display());
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
    /// Records what is due of `snapshot`; `outputs` are the values of the scene's outputs.
    pub(super) fn record(&mut self, due: Due, snapshot: &Snapshot, outputs: &[f64]) {
        if !due.any() {
            return;
        }
        let Ok(mut batch) = self.spare.try_recv() else {
            if let Some(kept_back) = self.lost.due(Instant::now()) {
                tracing::warn!("the disk is too slow: an instant is missing in the recording{}", and_more(kept_back));
            }
            return;
        };
        batch.restart(snapshot.time_ns);
        if !std::mem::replace(&mut self.started, true) {
            self.encoder.latched(&mut batch);
        }
        self.encoder.write(due, snapshot, outputs, &mut batch);
        // As many batches as places: there is room, unless the disk's end is gone, which has said why.
        let _ = self.filled.try_send(batch);
    }
}

impl RecorderDisk {
    /// Writes until the other end is gone, then closes the file.
    fn run(self) {
        let Self { mut writer, filled, spare } = self;
        while let Ok(batch) = filled.recv() {
            if let Err(error) = write_batch(&mut writer, &batch) {
                tracing::error!("{error}. The recording ends here");
                return;
            }
            let _ = spare.try_send(batch);
        }
        if let Err(error) = writer.finish() {
            tracing::error!("{error}");
        }
    }
}
