//! MCAP files in the profile of rosbag2.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mcap::records::MessageHeader;

use super::topics::Topic;

/// The reason why a recording stopped.
#[derive(Debug, thiserror::Error)]
pub enum BagError {
    /// The file cannot be made.
    #[error("cannot write {}; check the folder and the permissions", file.display())]
    Create {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file cannot be continued.
    #[error("cannot continue writing {}: {problem}; check the free space", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The cause.
        problem: String,
    },
}

/// An MCAP file being written. A file that is not finished lacks its index; tools can still recover what
/// it holds.
pub struct BagWriter {
    file: PathBuf,
    writer: mcap::Writer<BufWriter<File>>,
    /// Channel and next sequence number of each topic.
    channels: Vec<(u16, u32)>,
}

impl BagWriter {
    /// Makes the file and declares `topics`; messages name them by their index.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(file: &Path, topics: &[Topic]) -> Result<Self, BagError> {
        let sink = File::create(file).map_err(|source| BagError::Create { file: file.to_path_buf(), source })?;
        let fail = |error: mcap::McapError| fail(file, &error);
        let library = format!("isobar {}", env!("CARGO_PKG_VERSION"));
        let options = mcap::WriteOptions::new().profile("ros2").library(library).compression(None);
        let mut writer = options.create(BufWriter::new(sink)).map_err(fail)?;
        let mut channels = Vec::with_capacity(topics.len());
        for topic in topics {
            let definition = topic.message.definition();
            let schema = writer.add_schema(topic.message.name(), "ros2msg", definition.as_bytes()).map_err(fail)?;
            let metadata = BTreeMap::from([("offered_qos_profiles".to_owned(), qos(topic))]);
            channels.push((writer.add_channel(schema, &topic.name, "cdr", &metadata).map_err(fail)?, 0));
        }
        Ok(Self { file: file.to_path_buf(), writer, channels })
    }

    /// Appends a message of the topic at `topic`, stamped with simulated time.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn write(&mut self, topic: usize, time_ns: u64, message: &[u8]) -> Result<(), BagError> {
        let Some((channel_id, sequence)) = self.channels.get_mut(topic) else { return Ok(()) };
        *sequence += 1;
        let header =
            MessageHeader { channel_id: *channel_id, sequence: *sequence, log_time: time_ns, publish_time: time_ns };
        self.writer.write_to_known_channel(&header, message).map_err(|error| fail(&self.file, &error))
    }

    /// Writes the index and closes the file.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn finish(mut self) -> Result<(), BagError> {
        self.writer.finish().map(drop).map_err(|error| fail(&self.file, &error))
    }
}

fn fail(file: &Path, error: &mcap::McapError) -> BagError {
    BagError::Write { file: file.to_path_buf(), problem: error.to_string() }
}

/// The quality of service in the form of rosbag2, so that a player offers the same: history 1 keeps the last,
/// reliability 1 and durability 1 are reliable and transient local, 2 are best effort and volatile.
fn qos(topic: &Topic) -> String {
    let forever = "{sec: 9223372036, nsec: 854775807}";
    let (reliability, durability) = (if topic.best_effort { 2 } else { 1 }, if topic.latched { 1 } else { 2 });
    format!(
        "- history: 1\n  depth: {}\n  reliability: {reliability}\n  durability: {durability}\n  deadline: {forever}\n  \
         lifespan: {forever}\n  liveliness: 1\n  liveliness_lease_duration: {forever}\n  \
         avoid_ros_namespace_conventions: false",
        topic.depth
    )
}
