//! The reasons why the node does not start, or stops.

use std::path::PathBuf;

use crate::io::bag::BagError;
use crate::io::checkpoint_file::CheckpointFileError;
use crate::io::scene_file::SceneError;
use crate::ros::client::ClientError;
use crate::ros::scheduling::SchedulingError;
use crate::scene::SceneChangeError;
use crate::stepping::SimulationError;

/// The reason why the node did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// An error of ROS.
    #[error("ROS 2")]
    Ros(#[from] ClientError),
    /// An argument of the command line.
    #[error(transparent)]
    Argument(ClientError),
    /// Values that parameters cannot take, one per line, and a table of all parameters.
    #[error("{0}\nThe parameters are:\n{1}")]
    Parameters(String, String),
    /// No scene was named.
    #[error("no scene was given: add --ros-args -p scene:=FILE.yaml")]
    NoScene,
    /// The scene cannot be loaded.
    #[error(transparent)]
    Scene(Box<SceneError>),
    /// The scene cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The scene refuses gravity or gains.
    #[error(transparent)]
    SceneChange(#[from] SceneChangeError),
    /// The recording cannot be made.
    #[error("parameter 'record'")]
    Record(#[from] BagError),
    /// The recording has no name of its own.
    #[error("parameter 'record': {} is {kind}: name a file that does not exist yet, such as FOLDER/run.mcap", file.display())]
    RecordKind {
        /// The value of the parameter.
        file: PathBuf,
        /// Its kind.
        kind: &'static str,
    },
    /// One file for two purposes.
    #[error("parameters 'record' and 'checkpoint' name one file, {}: name two", file.display())]
    OneFile {
        /// The file.
        file: PathBuf,
    },
    /// Another node has the file of checkpoints.
    #[error(
        "parameter 'checkpoint': another node uses {}: end that node, or name another file", file.display()
    )]
    CheckpointInUse {
        /// The file.
        file: PathBuf,
    },
    /// Checkpoints cannot be written.
    #[error("parameter 'checkpoint'")]
    CheckpointOutput(#[source] CheckpointFileError),
    /// The checkpoint belongs to another scene.
    #[error(
        "parameter 'checkpoint': it was made in {world}: start with that scene, remove the file or name another one"
    )]
    OtherScene {
        /// The name of its world.
        world: String,
        /// The difference.
        source: CheckpointFileError,
    },
    /// The simulation cannot continue from the checkpoint.
    #[error("parameter 'checkpoint': to begin at the start, remove the file or name another one")]
    Checkpoint(#[from] CheckpointFileError),
    /// The entities of the checkpoint cannot be made again.
    #[error(
        "parameter 'checkpoint': {}: the world has {entities}, which cannot be made again: {reason}. To begin at the start, \
         remove the file or name another one",
        file.display()
    )]
    Entities {
        /// The checkpoint.
        file: PathBuf,
        /// The spawned and deleted entities.
        entities: String,
        /// The reason.
        reason: String,
    },
    /// The operating system refuses priority, processors or locked memory.
    #[error(transparent)]
    Scheduling(#[from] SchedulingError),
    /// The operating system refused a thread or a signal handler.
    #[error("operating system")]
    System(#[from] std::io::Error),
    /// The simulation ended itself, as its settings require.
    #[error("{0}")]
    Aborted(String),
    /// A thread ended by itself, which is a defect.
    #[error("the {0} thread panicked; the lines above give the reason. Please report this defect")]
    ThreadDied(&'static str),
}
