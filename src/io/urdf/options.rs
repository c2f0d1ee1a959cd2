//! Choices at loading.

/// The treatment of a collision mesh that is not found or cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnreadableMesh {
    /// Refuse the robot.
    #[default]
    Error,
    /// Leave the geometry out and warn.
    WarnAndSkip,
}

/// Choices at loading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// The treatment of a collision mesh that is not found or cannot be read.
    pub on_unreadable_collision_mesh: OnUnreadableMesh,
    /// Read the meshes of visuals too. If false, they are only searched for, so that missing ones give a
    /// warning.
    pub load_visual_meshes: bool,
    /// Values for the arguments of a xacro file by name.
    pub xacro_arguments: Vec<(String, String)>,
}
