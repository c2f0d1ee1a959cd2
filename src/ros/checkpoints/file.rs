//! The file of the node's checkpoints, and the thread that writes it: a slow disk delays no step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::io::checkpoint_file;
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::exchange::requests::CheckpointOutcome;
use crate::ros::log::causes::with_causes;
use crate::stepping::Checkpoint;

/// The largest number of checkpoints that wait for the disk.
const CHECKPOINTS: usize = 2;

/// The time between two attempts to send the last checkpoint of a run.
const WAIT: Duration = Duration::from_millis(10);

/// A checkpoint, and the numbers of the requests that it answers.
type Job = (Box<Checkpoint>, Vec<u64>);

/// The fate of a checkpoint that finds the queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Drop the checkpoint, so that no step waits for the disk.
    Try,
    /// Wait for the disk unless it does not answer, because the last checkpoint of a run must not be lost.
    Wait,
}

/// The sending end, for the simulation thread.
pub(crate) struct CheckpointSender {
    jobs: SyncSender<Job>,
    mailbox: Arc<Mailbox>,
}

impl CheckpointSender {
    /// Sends a checkpoint that answers `requests`. False if it was dropped.
    pub(crate) fn send(&self, checkpoint: Checkpoint, requests: Vec<u64>, queue: Queue) -> bool {
        let mut job = (Box::new(checkpoint), requests);
        loop {
            match self.jobs.try_send(job) {
                Ok(()) => return true,
                Err(TrySendError::Full(kept))
                    if queue == Queue::Wait && self.mailbox.checkpoint.disk.stalled().is_none() =>
                {
                    job = kept;
                    std::thread::sleep(WAIT);
                }
                Err(_) => return false,
            }
        }
    }
}

/// The receiving end, for the thread that writes the file.
pub(crate) struct CheckpointDisk {
    file: PathBuf,
    jobs: Receiver<Job>,
    mailbox: Arc<Mailbox>,
}

/// Both ends of the queue of checkpoints for `file`.
pub(crate) fn checkpoint_queue(file: &Path, mailbox: Arc<Mailbox>) -> (CheckpointSender, CheckpointDisk) {
    let (sender, jobs) = sync_channel(CHECKPOINTS);
    let for_disk = mailbox.clone();
    (CheckpointSender { jobs: sender, mailbox }, CheckpointDisk { file: file.to_path_buf(), jobs, mailbox: for_disk })
}

impl CheckpointDisk {
    /// Writes checkpoints until the simulation thread ends.
    pub(crate) fn run(&self) {
        for (checkpoint, requests) in &self.jobs {
            let write = || checkpoint_file::write(&self.file, &checkpoint);
            let written = self.mailbox.checkpoint.disk.during("checkpoint", write).map_err(|error| with_causes(&error));
            self.mailbox.checkpoint.ended(written.as_ref().map(|()| checkpoint.time_ns()).map_err(String::as_str));
            let time = checkpoint.time_ns() as f64 * 1e-9;
            let done =
                written.map(|()| format!("written to {}, {time:.4} s after the last reset", self.file.display()));
            for request in requests {
                self.mailbox.answer_checkpoint(request, CheckpointOutcome { done: done.clone(), physics: None });
            }
        }
    }
}
