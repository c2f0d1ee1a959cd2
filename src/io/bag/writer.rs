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
    /// A message of a topic that was not declared.
    #[error("{} has {count} topics, and none with the index {topic}: declare all topics when the file is made", file.display())]
    UnknownTopic {
        /// The file.
        file: PathBuf,
        /// The index.
        topic: usize,
        /// The number of declared topics.
        count: usize,
    },
}

/// An MCAP file being written. A file that is not finished lacks its index; tools can still recover what
/// was flushed.
pub struct BagWriter {
    file: PathBuf,
    /// `None` after a failure: nothing more is written then, not even when this is dropped.
    writer: Option<mcap::Writer<BufWriter<File>>>,
    /// Channel and next sequence number of each topic.
    channels: Vec<(u16, u32)>,
}

impl BagWriter {
    /// Makes the file and declares `topics`; messages name them by their index.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(file: &Path, topics: &[Topic]) -> Result<Self, BagError> {
        Self::begin(File::create(file), file, topics)
    }

    /// As [`BagWriter::create`], but never replaces an existing file.
    ///
    /// # Errors
    /// The file cannot be made, or exists already.
    pub fn create_new(file: &Path, topics: &[Topic]) -> Result<Self, BagError> {
        Self::begin(File::create_new(file), file, topics)
    }

    fn begin(made: std::io::Result<File>, file: &Path, topics: &[Topic]) -> Result<Self, BagError> {
        let sink = made.map_err(|source| BagError::Create { file: file.to_path_buf(), source })?;
        let fail = |error: mcap::McapError| fail(file, &error);
        let library = format!("isobar {}", env!("CARGO_PKG_VERSION"));
        let options = mcap::WriteOptions::new().profile("ros2").library(library).compression(None);
        // A chunk reaches the file when it is complete: readers cannot skip the length of an incomplete one.
        let options = options.disable_seeking(true);
        let mut writer = options.create(BufWriter::new(sink)).map_err(fail)?;
        let mut channels = Vec::with_capacity(topics.len());
        for topic in topics {
            let definition = topic.message.definition();
            let schema = writer.add_schema(topic.message.name(), "ros2msg", definition.as_bytes()).map_err(fail)?;
            let metadata = BTreeMap::from([("offered_qos_profiles".to_owned(), qos(topic))]);
            channels.push((writer.add_channel(schema, &topic.name, "cdr", &metadata).map_err(fail)?, 0));
        }
        Ok(Self { file: file.to_path_buf(), writer: Some(writer), channels })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Appends a message of the topic with the index `topic`, stamped with simulated time.
    ///
    /// # Errors
    /// The file cannot be written, or has no topic of that index.
    pub fn write(&mut self, topic: usize, time_ns: u64, message: &[u8]) -> Result<(), BagError> {
        let count = self.channels.len();
        let Some((channel_id, sequence)) = self.channels.get_mut(topic) else {
            return Err(BagError::UnknownTopic { file: self.file.clone(), topic, count });
        };
        *sequence += 1;
        let header =
            MessageHeader { channel_id: *channel_id, sequence: *sequence, log_time: time_ns, publish_time: time_ns };
        self.attempt(|writer| writer.write_to_known_channel(&header, message))
    }

    /// Passes everything written so far to the system. If this program is killed after that, `mcap` tools
    /// read the file up to here.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), BagError> {
        self.attempt(mcap::Writer::flush)
    }

    /// Writes the index and ends the file; nothing may be written after it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(&mut self) -> Result<(), BagError> {
        self.attempt(|writer| writer.finish().map(drop))
    }

    /// Writes. After a failure the rest is given up: to write it again, also when this is dropped, could put
    /// it into the file a second time, or wait for a disk that does not answer.
    fn attempt(
        &mut self,
        write: impl FnOnce(&mut mcap::Writer<BufWriter<File>>) -> Result<(), mcap::McapError>,
    ) -> Result<(), BagError> {
        let Some(writer) = &mut self.writer else {
            let problem = "an earlier part of it could not be written".to_owned();
            return Err(BagError::Write { file: self.file.clone(), problem });
        };
        write(writer).map_err(|error| {
            if let Some(writer) = self.writer.take() {
                drop(writer.into_inner().into_parts());
            }
            fail(&self.file, &error)
        })
    }
}

fn fail(file: &Path, error: &mcap::McapError) -> BagError {
    let problem = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    BagError::Write { file: file.to_path_buf(), problem }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::bag::MessageType;

    fn topic() -> Topic {
        let (name, message) = ("/number".to_owned(), MessageType::Float64);
        Topic { name, message, depth: 1, best_effort: false, latched: false }
    }

    /// A full disk: what could not be written is given up. No later call writes it, and neither does the end
    /// of the writer.
    #[test]
    fn after_a_failure_nothing_is_written_a_second_time() {
        let file = std::env::temp_dir().join(format!("isobar_full_{}.mcap", std::process::id()));
        let mut writer = BagWriter::create_new(&file, &[topic()]).unwrap();
        writer.flush().unwrap();
        writer.write(0, 0, &[0; 100_000]).unwrap();
        let before = std::fs::metadata(&file).unwrap().len();
        let full = writer.attempt(|_| Err(mcap::McapError::Io(std::io::Error::other("no space"))));
        assert!(full.unwrap_err().to_string().contains("no space"));
        for again in [writer.write(0, 0, &[0; 8]), writer.flush(), writer.finish()] {
            let again = again.unwrap_err().to_string();
            assert!(again.contains("an earlier part of it could not be written"), "{again}");
        }
        drop(writer);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), before);
        std::fs::remove_file(&file).unwrap();
    }

    /// A writer that is dropped without being finished leaves the flushed messages with their schemas, and no
    /// others. A message of an unknown topic is refused.
    #[test]
    fn a_cut_file_reads_to_the_last_flush() {
        let file = std::env::temp_dir().join(format!("isobar_cut_{}.mcap", std::process::id()));
        let mut writer = BagWriter::create_new(&file, &[topic()]).unwrap();
        assert!(BagWriter::create_new(&file, &[topic()]).is_err(), "the file is there");
        for flushes in 0..2 {
            for message in 0..100 {
                writer.write(0, flushes * 1000 + message, &[0; 12]).unwrap();
            }
            writer.flush().unwrap();
        }
        writer.write(0, 5000, &[0; 12]).unwrap();
        let unknown = writer.write(1, 5000, &[0; 12]);
        assert!(matches!(unknown, Err(BagError::UnknownTopic { topic: 1, count: 1, .. })), "{unknown:?}");
        // Larger than the buffer of the file; the chunk is not complete.
        writer.write(0, 5001, &[0; 100_000]).unwrap();
        std::mem::forget(writer);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let options = mcap::read::Options::IgnoreEndMagic.into();
        let stream = mcap::MessageStream::new_with_options(&bytes, options).unwrap();
        let read: Vec<_> = stream.map_while(Result::ok).collect();
        assert_eq!(read.len(), 200);
        // All records are complete: an opcode, a length of 8 bytes and the content.
        let mut at = 8;
        while at < bytes.len() {
            at += 9 + u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap()) as usize;
        }
        assert_eq!(at, bytes.len());
        assert_eq!(read[199].channel.schema.as_ref().unwrap().name, "std_msgs/msg/Float64");
        assert_eq!(read[199].log_time, 1099);
    }
}
