//! Saving and restoring through services of std_srvs.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;

use crate::io::checkpoint_file;
use crate::io::scene_file::SourceChanges;
use crate::ros::checkpoints::node_state::NodeState;
use crate::ros::client::interfaces::std_srvs::srv::Trigger;
use crate::ros::client::{ClientError, Node, Request, Service};
use crate::ros::exchange::disk_watch::STALLED_AFTER;
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::log::causes::with_causes;
use crate::ros::scheduling::ordinary;
use crate::ros::services::context::CurrentWorld;
use crate::ros::services::parameters::Parameters;
use crate::stepping::Checkpoint;

/// The warning about a period of checkpoints that have no file.
pub(crate) const PERIOD_WITHOUT_FILE: &str = "parameter 'checkpoint_period' has no effect without a file: no checkpoint is \
                                              written; start the node with --ros-args -p checkpoint:=FILE";

/// The largest number of requests that wait for a step boundary or for the disk. Each of those to restore
/// holds a whole checkpoint.
const WAITING_MAX: usize = 16;

/// The services, and the requests that wait for a step boundary or for the disk.
pub(crate) struct CheckpointServices {
    save: Service<Trigger::Service>,
    restore: Service<Trigger::Service>,
    waiting: Vec<(u64, Request<Trigger::Service>)>,
    reading: Option<Reading>,
}

/// A file that a thread reads, since its disk may not answer.
struct Reading {
    file: String,
    began: Instant,
    read: Receiver<Result<Checkpoint, String>>,
    /// The request, until it is answered.
    request: Option<Request<Trigger::Service>>,
}

impl Reading {
    /// Reads `file` for a request.
    fn begin(file: String, request: Request<Trigger::Service>) -> Self {
        let (sender, read) = channel();
        let path = PathBuf::from(&file);
        // If the thread does not start, its end of the channel is dropped.
        let _ = std::thread::Builder::new().name("restore".to_owned()).spawn(move || {
            ordinary();
            // The request was refused if the disk was too slow.
            let _ = sender.send(checkpoint_file::read(&path).map_err(|error| with_causes(&error)));
        });
        Self { file, began: Instant::now(), read, request: Some(request) }
    }

    /// The content of the file, once it is read.
    fn outcome(&self) -> Option<Result<Checkpoint, String>> {
        match self.read.try_recv() {
            Ok(read) => Some(read),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(format!("{}: the thread that reads it did not start; try again", self.file)))
            }
        }
    }
}

impl CheckpointServices {
    /// Offers the services.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        let (save, restore) = (node.service("~/save_checkpoint")?, node.service("~/restore_checkpoint")?);
        Ok(Self { save, restore, waiting: Vec::new(), reading: None })
    }

    /// Takes the requests that have arrived, and answers those that are done. Returns whether gravity and
    /// gains now come from a checkpoint. If `world` was entered since, it keeps its own.
    pub(crate) fn answer_all(&mut self, mailbox: &Mailbox, parameters: &mut Parameters, world: &CurrentWorld) -> bool {
        let file = parameters.text("checkpoint").to_owned();
        while let Some(request) = self.save.next() {
            if file.is_empty() {
                refuse(request, no_file());
            } else if self.waiting.len() >= WAITING_MAX {
                refuse(request, too_many());
            } else if !world.origin.exists {
                refuse(request, format!("{file} is kept as it is: there is no world to save; load one first"));
            } else {
                self.waiting.push((mailbox.request_checkpoint(None), request));
            }
        }
        self.read_files(&file, mailbox, world);
        let mut restored = false;
        for (number, request) in std::mem::take(&mut self.waiting) {
            let Some(outcome) = mailbox.take_checkpoint_outcome(number) else {
                self.waiting.push((number, request));
                continue;
            };
            if let Some((_, physics)) = outcome.physics.as_ref().filter(|(number, _)| *number == world.number) {
                parameters.set_physics(world.scene.joint_names(), physics);
                restored = true;
            }
            match outcome.done {
                Ok(message) => request.respond(Trigger::Response { success: true, message }),
                Err(problem) => refuse(request, format!("{file}: {problem}")),
            }
        }
        restored
    }

    /// Takes the requests to restore, one after the other: reads the file and passes its content on.
    fn read_files(&mut self, file: &str, mailbox: &Mailbox, world: &CurrentWorld) {
        loop {
            if let Some(mut reading) = self.reading.take() {
                let Some(read) = reading.outcome() else {
                    let waited = reading.began.elapsed();
                    if waited >= STALLED_AFTER
                        && let Some(request) = reading.request.take()
                    {
                        refuse(request, unanswered(&reading.file));
                    }
                    self.reading = Some(reading);
                    if waited >= STALLED_AFTER {
                        while let Some(request) = self.restore.next() {
                            refuse(request, unanswered(file));
                        }
                    }
                    return;
                };
                if let Some(request) = reading.request.take() {
                    let changes = world.origin.source.changes();
                    match read.and_then(|checkpoint| same_entities(checkpoint, &reading.file, changes)) {
                        Ok(_) if self.waiting.len() >= WAITING_MAX => refuse(request, too_many()),
                        Ok(checkpoint) => self.waiting.push((mailbox.request_checkpoint(Some(checkpoint)), request)),
                        Err(problem) => refuse(request, problem),
                    }
                }
            }
            let Some(request) = self.restore.next() else { return };
            if file.is_empty() {
                refuse(request, no_file());
            } else {
                self.reading = Some(Reading::begin(file.to_owned(), request));
            }
        }
    }
}

/// Refuses a checkpoint of a world with other entities: only a node that starts with the checkpoint brings
/// them back.
fn same_entities(checkpoint: Checkpoint, file: &str, present: &SourceChanges) -> Result<Checkpoint, String> {
    let then = NodeState::entities_of(&checkpoint).map_err(|error| format!("checkpoint {file}: {error}"))?;
    if then.has_models_of(present) {
        return Ok(checkpoint);
    }
    let (then, now) = (then.summary(), present.summary());
    Err(format!(
        "checkpoint {file}: it was made with {then}; the world has {now}. Spawn and delete the same entities, or start a \
         node with this checkpoint, which brings them back"
    ))
}

fn unanswered(file: &str) -> String {
    format!(
        "{file}: the disk has not answered for {} s, and nothing was restored; check the disk, then try again",
        STALLED_AFTER.as_secs()
    )
}

fn too_many() -> String {
    format!("{WAITING_MAX} requests for checkpoints wait for the present step or the disk: try again later")
}

fn no_file() -> String {
    "no file: start the node with --ros-args -p checkpoint:=FILE".to_owned()
}

fn refuse(request: Request<Trigger::Service>, message: String) {
    request.respond(Trigger::Response { success: false, message });
}
