//! The recording thread: messages in an MCAP file.

pub(crate) mod recorder;
