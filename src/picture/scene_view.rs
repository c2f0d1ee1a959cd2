//! What a picture of a scene shows, and from where.

use super::labels::Labels;
use crate::math::Vector3;
use crate::scene::{Scene, VisualGeometry};
use crate::stepping::Snapshot;

/// From where a scene is seen; what is absent is chosen so that everything is in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Azimuth, about z from the x axis, and elevation above the horizontal \[rad\]. Where absent, from the front and a little from
    /// above; in the contact view so that the largest patch faces the eye.
    pub direction: Option<(f64, f64)>,
    /// From the target \[m\].
    pub distance: Option<f64>,
    /// What is looked at p_WT \[m\].
    pub target_W: Option<Vector3>,
    /// Leave out the arrows of the contact forces.
    pub without_forces: bool,
    /// Which of the arrows have their force written beside them.
    pub labels: Labels,
}

/// What a picture of a scene shows.
#[derive(Clone, Copy, Debug)]
pub struct ScenePicture<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The instant.
    pub snapshot: &'a Snapshot,
    /// What the bodies look like. A body without shows its collision geometries.
    pub visuals: &'a [VisualGeometry],
    /// From where it is seen.
    pub view: View,
    /// Look at the contact patches, with the bodies that touch made of glass, in their collision geometries.
    pub contact: bool,
    /// Columns and rows \[px\].
    pub size: (usize, usize),
    /// Written above.
    pub title: &'a str,
}
