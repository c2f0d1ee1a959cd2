//! Recording what is published. Messages are made by the publishing thread and written by a thread of their own, so that
//! a slow disk costs recorded messages, never a publication or a step.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use super::throttle::{Throttle, and_more};
use crate::io::bag::{BagEncoder, BagError, BagWriter, Batch, write_batch};
use crate::io::rates::Due;
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
pub(super) struct RecorderDisk {
    writer: BagWriter,
    filled: Receiver<Batch>,
    spare: SyncSender<Batch>,
}

/// Makes the file and both ends.
pub(super) fn recorder(file: &Path, encoder: BagEncoder) -> Result<(Recorder, RecorderDisk), BagError> {
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
    pub(super) fn run(self) {
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
