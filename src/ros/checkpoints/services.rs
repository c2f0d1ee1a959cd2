//! Saving and restoring through services of std_srvs.

use std::path::Path;

use crate::io::checkpoint_file;
use crate::ros::client::interfaces::std_srvs::srv::Trigger;
use crate::ros::client::{ClientError, Node, Request, Service};
use crate::ros::exchange::mailbox::Mailbox;
use crate::ros::log::causes::with_causes;
use crate::ros::services::parameters::Parameters;

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

    /// Takes the requests that have arrived, and answers those that are done. True if gravity or gains are
    /// those of a checkpoint now.
    pub(crate) fn answer_all(&mut self, mailbox: &Mailbox, parameters: &mut Parameters, joints: &[String]) -> bool {
        let file = parameters.text("checkpoint").to_owned();
        while let Some(request) = self.save.next() {
            match file.is_empty() {
                true => refuse(request, no_file()),
                false => self.waiting.push((mailbox.request_checkpoint(None), request)),
            }
        }
        while let Some(request) = self.restore.next() {
            if file.is_empty() {
                refuse(request, no_file());
                continue;
            }
            match checkpoint_file::read(Path::new(&file)) {
                Ok(checkpoint) => self.waiting.push((mailbox.request_checkpoint(Some(checkpoint)), request)),
                Err(error) => refuse(request, with_causes(&error)),
            }
        }
        let mut restored = false;
        for (number, request) in std::mem::take(&mut self.waiting) {
            let Some(outcome) = mailbox.take_checkpoint_outcome(number) else {
                self.waiting.push((number, request));
                continue;
            };
            if let Some(physics) = &outcome.physics {
                parameters.set_physics(joints, physics);
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

fn no_file() -> String {
    "no file: start the node with --ros-args -p checkpoint:=FILE".to_owned()
}

fn refuse(request: Request<Trigger::Service>, message: String) {
    request.respond(Trigger::Response { success: false, message });
}
