//! Pictures of a scene in motion.

use std::path::Path;

use super::error::ExperimentError;
use crate::io::scene_file::LoadedScene;
use crate::math::Vector3;
use crate::picture::{self, Align, INK, Image, PAPER, PictureError, ScenePicture, View, write_png};
use crate::stepping::{Simulation, Snapshot};

/// Columns and rows of a key frame \[px\]; a sheet of key frames has three columns.
const FRAME: (usize, usize) = (640, 480);
const SHEET_COLUMNS: usize = 3;
/// Height of the band of a key frame's title \[px\].
const BAND: f64 = 46.0;

/// A point of view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Eye {
    /// Azimuth about z from the x axis, and elevation above the horizontal [degrees].
    pub(super) azimuth: f64,
    pub(super) elevation: f64,
    /// Distance from the target \[m\].
    pub(super) distance: f64,
    /// The middle of the picture \[m\].
    pub(super) target: [f64; 3],
}

/// A picture of the scene now.
pub(super) fn scene_picture(
    loaded: &LoadedScene,
    simulation: &Simulation,
    view: View,
    size: (usize, usize),
    title: &str,
) -> Result<Image, PictureError> {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let (scene, visuals) = (&loaded.scene, &loaded.visuals);
    picture::scene_picture(&ScenePicture { scene, snapshot: &snapshot, visuals, view, contact: false, size, title })
}

/// A key frame of the scene now, with its title and time in a band.
pub(super) fn key_frame(
    loaded: &LoadedScene,
    simulation: &Simulation,
    eye: &Eye,
    title: &str,
) -> Result<Image, PictureError> {
    let view = View {
        direction: Some((eye.azimuth.to_radians(), eye.elevation.to_radians())),
        distance: Some(eye.distance),
        target_W: Some(Vector3::from(eye.target)),
        without_forces: true,
        ..View::default()
    };
    let mut image = scene_picture(loaded, simulation, view, FRAME, "")?;
    // The band keeps the robot from hiding the title.
    image.fill([0.0, 0.0], [FRAME.0 as f64, BAND], PAPER, 1.0);
    let text = format!("{title}, t = {:.2} s", simulation.time());
    image.text(&text, [0.25 * BAND, 0.66 * BAND], 0.42 * BAND, Align::Left, INK);
    Ok(image)
}

/// Writes each key frame, and a sheet with all of them.
pub(super) fn write_frames(frames: &[Image], out: &Path) -> Result<(), ExperimentError> {
    let rows = frames.len().div_ceil(SHEET_COLUMNS);
    let mut sheet = Image::new(SHEET_COLUMNS * FRAME.0, rows * FRAME.1, PAPER);
    for (number, image) in frames.iter().enumerate() {
        write_png(image, &out.join(format!("key_frame_{:02}.png", number + 1)))?;
        sheet.paste(image, number % SHEET_COLUMNS * FRAME.0, number / SHEET_COLUMNS * FRAME.1);
    }
    Ok(write_png(&sheet, &out.join("key_frames.png"))?)
}
