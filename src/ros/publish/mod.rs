//! The publishing thread: it turns states into messages.

pub(crate) mod diagnostics;
#[cfg(isobar_gazebo)]
pub(crate) mod gazebo;
pub(crate) mod markers;
pub(crate) mod publishers;
pub(crate) mod scene_markers;
pub(crate) mod topics;
#[cfg(isobar_tf2)]
pub(crate) mod transforms;
