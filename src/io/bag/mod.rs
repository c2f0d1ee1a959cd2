//! Recordings for ROS 2 tools, made without ROS: MCAP files in the profile of rosbag2, with the messages
//! that the node publishes.

mod cdr;
mod encode;
mod point_cloud;
mod schemas;
mod static_transforms;
mod topics;
mod writer;

use std::path::Path;

pub use point_cloud::{CONTACT_FIELDS, ContactPairs, write_contact_patches};
pub use schemas::MessageType;
pub use static_transforms::{StaticTransform, static_transforms};
pub use topics::{BagEncoder, BagPlan, Batch, Topic, description_topics};
pub use writer::{BagError, BagWriter};

use crate::recording::{Due, Outputs};
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// A recording, written by the thread that steps the simulation.
pub struct BagRecording {
    encoder: BagEncoder,
    writer: BagWriter,
    batch: Batch,
    started: bool,
}

impl BagRecording {
    /// Makes the file at `file`. The other arguments are those of [`BagEncoder::new`].
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(
        file: &Path,
        scene: &Scene,
        outputs: &Outputs,
        descriptions: &[(String, String)],
        plan: &BagPlan,
    ) -> Result<Self, BagError> {
        let encoder = BagEncoder::new(scene, outputs, descriptions, plan);
        let writer = BagWriter::create(file, encoder.topics())?;
        Ok(Self { encoder, writer, batch: Batch::default(), started: false })
    }

    /// Appends the parts of `snapshot` that are due; `outputs` are the values of the scene's outputs.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&mut self, due: Due, snapshot: &Snapshot, outputs: &[f64]) -> Result<(), BagError> {
        self.batch.restart(snapshot.time_ns);
        if !std::mem::replace(&mut self.started, true) {
            self.encoder.latched(&mut self.batch);
        }
        self.encoder.write(due, snapshot, outputs, &mut self.batch);
        write_batch(&mut self.writer, &self.batch)
    }

    /// Writes the index and closes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), BagError> {
        self.writer.finish()
    }
}

/// Appends all messages of `batch`.
///
/// # Errors
/// The file cannot be written.
pub fn write_batch(writer: &mut BagWriter, batch: &Batch) -> Result<(), BagError> {
    batch.messages().try_for_each(|(topic, message)| writer.write(topic, batch.time_ns, message))
}
