//! Saving and restoring through services of std_srvs.

use std::path::Path;

use crate::io::checkpoint_file;
use crate::io::scene_file::SourceChanges;
use crate::ros::checkpoints::node_state::NodeState;
use crate::ros::client::interfaces::std_srvs::srv::Trigger;
use crate::ros::client::{ClientError, Node, Request, Service};
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::log::causes::with_causes;
use crate::ros::services::context::CurrentWorld;
use crate::ros::services::parameters::Parameters;
use crate::stepping::Checkpoint;

/// The warning about a period of checkpoints that have no file.
pub(crate) const PERIOD_WITHOUT_FILE: &str = "parameter 'checkpoint_period' has no effect without a file: no checkpoint is \
                                              written; start the node with --ros-args -p checkpoint:=FILE";

/// The services, and the requests that wait for a step boundary or for the disk.
pub(crate) struct CheckpointServices {
    save: Service<Trigger::Service>,
    restore: Service<Trigger::Service>,
    waiting: Vec<(u64, Request<Trigger::Service>)>,
}

impl CheckpointServices {
    /// Offers the services.
    pub(crate) fn new(node: &mut Node) -> Result<Self, ClientError> {
        let (save, restore) = (node.service("~/save_checkpoint")?, node.service("~/restore_checkpoint")?);
        Ok(Self { save, restore, waiting: Vec::new() })
    }

    /// Takes the requests that have arrived, and answers those that are done. Returns whether gravity and
    /// gains now come from a checkpoint. If `world` was entered since, it keeps its own.
    pub(crate) fn answer_all(&mut self, mailbox: &Mailbox, parameters: &mut Parameters, world: &CurrentWorld) -> bool {
        let file = parameters.text("checkpoint").to_owned();
        while let Some(request) = self.save.next() {
            if file.is_empty() {
                refuse(request, no_file());
            } else if !world.origin.exists {
                refuse(request, format!("{file} is kept as it is: there is no world to save; load one first"));
            } else {
                self.waiting.push((mailbox.request_checkpoint(None), request));
            }
        }
        while let Some(request) = self.restore.next() {
            if file.is_empty() {
                refuse(request, no_file());
                continue;
            }
            let read = checkpoint_file::read(Path::new(&file)).map_err(|error| with_causes(&error));
            match read.and_then(|checkpoint| same_entities(checkpoint, &file, world.origin.source.changes())) {
                Ok(checkpoint) => self.waiting.push((mailbox.request_checkpoint(Some(checkpoint)), request)),
                Err(problem) => refuse(request, problem),
            }
        }
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

fn no_file() -> String {
    "no file: start the node with --ros-args -p checkpoint:=FILE".to_owned()
}

fn refuse(request: Request<Trigger::Service>, message: String) {
    request.respond(Trigger::Response { success: false, message });
}
