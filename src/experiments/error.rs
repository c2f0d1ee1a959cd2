//! Errors of experiments.

use std::path::{Path, PathBuf};

use super::cube_stacking::stacking::StackingError;
use super::keyframes::TaskError;
use super::pancake_flip::flip::FlipError;
use super::plot::PlotError;
use super::spatula_slip::slip::SlipError;
use crate::io::scene_file::SceneError;
use crate::picture::PictureError;
use crate::solvers::quasistatic::QuasistaticError;

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

/// Makes a folder.
pub(super) fn make_folder(path: &Path) -> Result<(), ExperimentError> {
    std::fs::create_dir_all(path).map_err(|source| ExperimentError::Write { path: path.to_owned(), source })
}

/// Writes a file.
pub(super) fn write_text(path: &Path, text: &str) -> Result<(), ExperimentError> {
    std::fs::write(path, text).map_err(|source| ExperimentError::Write { path: path.to_owned(), source })
}
