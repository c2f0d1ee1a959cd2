//! Errors of experiments.

use std::path::{Path, PathBuf};

use super::cube_stacking::stacking::StackingError;
use super::keyframes::TaskError;
use super::pancake_flip::flip::FlipError;
use super::plot::PlotError;
use super::reach::ReachError;
use super::spatula_slip::slip::SlipError;
use crate::io::scene_file::SceneError;
use crate::multibody::ModelError;
use crate::picture::PictureError;
use crate::scene::SceneBuildError;
use crate::solvers::quasistatic::QuasistaticError;
use crate::stepping::{DerivativeError, SimulationError, StepError};

/// The reason why an experiment has no result.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file or a folder that cannot be written.
    #[error("{path} cannot be written; check the folder and the permissions", path = path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file that cannot be read.
    #[error("{path} cannot be read; check its name", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file that is not one of measured pushes.
    #[error("{path} is not a file of measured pushes: {problem}", path = path.display())]
    Measurements {
        /// The file.
        path: PathBuf,
        /// The fault.
        problem: String,
    },
    /// A push that cannot be taken.
    #[error("{0}")]
    Push(String),
    /// A folder or a file that is not one of measured tosses.
    #[error("{path} is not one of measured tosses: {problem}", path = path.display())]
    Tosses {
        /// The file or folder.
        path: PathBuf,
        /// The fault.
        problem: String,
    },
    /// A text that is in the name of no law.
    #[error("no law has `{text}` in its name; the laws are: {names}")]
    NoLaw {
        /// The text.
        text: String,
        /// All names.
        names: String,
    },
    /// A scene that cannot be built.
    #[error(transparent)]
    Build(#[from] SceneBuildError),
    /// A joint that cannot be added.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A simulation that cannot be made.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A step that failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The scene cannot be loaded.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The task cannot be loaded.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A plot that cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A step of the planar gripper.
    #[error(transparent)]
    Quasistatic(#[from] QuasistaticError),
    /// A smoothed step of a plan.
    #[error(transparent)]
    Derivative(#[from] DerivativeError),
    /// A pose out of the arm's reach.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// A name that is not in the scene.
    #[error("the scene has no {what} called '{name}': give that name to one")]
    Missing {
        /// The kind of element.
        what: &'static str,
        /// The name.
        name: &'static str,
    },
    /// Cube stacking.
    #[error(transparent)]
    Stacking(#[from] StackingError),
    /// The pancake flip.
    #[error(transparent)]
    Flip(#[from] FlipError),
    /// The spatula slip.
    #[error(transparent)]
    Slip(#[from] SlipError),
}

/// Reads a text file.
pub(super) fn read_text(path: &Path) -> Result<String, ExperimentError> {
    std::fs::read_to_string(path).map_err(|source| ExperimentError::Read { path: path.to_owned(), source })
}

/// Makes a folder.
pub(super) fn make_folder(path: &Path) -> Result<(), ExperimentError> {
    std::fs::create_dir_all(path).map_err(|source| ExperimentError::Write { path: path.to_owned(), source })
}

/// Writes a file.
pub(super) fn write_text(path: &Path, text: &str) -> Result<(), ExperimentError> {
    std::fs::write(path, text).map_err(|source| ExperimentError::Write { path: path.to_owned(), source })
}
