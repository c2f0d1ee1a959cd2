//! The contents and the viewpoint of a picture of a scene.

use super::labels::Labels;
use crate::math::Vector3;
use crate::scene::{Scene, VisualGeometry};
use crate::stepping::Snapshot;

/// The viewpoint of a scene; missing values are chosen so that the whole scene is in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Azimuth, about z from the x axis, and elevation above the horizontal \[rad\]. By default from the
    /// front and slightly above; in the contact view so that the largest patch faces the eye.
    pub direction: Option<(f64, f64)>,
    /// The distance from the target \[m\].
    pub distance: Option<f64>,
    /// The target point p_WT \[m\].
    pub target_W: Option<Vector3>,
    /// Leave out the arrows of the contact forces.
    pub without_forces: bool,
    /// The arrows that are labelled with their force.
    pub labels: Labels,
}

/// The contents of a picture of a scene.
#[derive(Clone, Copy, Debug)]
pub struct ScenePicture<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The instant.
    pub snapshot: &'a Snapshot,
    /// The visual geometries of the bodies. A body without any shows its collision geometries.
    pub visuals: &'a [VisualGeometry],
    /// The viewpoint.
    pub view: View,
    /// Show the contact patches, and the collision geometries of the touching bodies as glass.
    pub contact: bool,
    /// Columns and rows \[px\].
    pub size: (usize, usize),
    /// Title above the picture.
    pub title: &'a str,
}
