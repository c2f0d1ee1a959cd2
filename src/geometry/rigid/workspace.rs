//! Memory of the contact queries between rigid shapes.

use super::clip::{Feature, Scratch};
use super::points::PointContact;
use crate::geometry::signed_distance::WitnessSearch;

/// Memory that [`contact_points`](super::contact_points) reuses from call to call.
#[derive(Clone, Debug, Default)]
pub struct RigidWorkspace {
    pub(super) found: Vec<PointContact>,
    pub(super) feature_A: Feature,
    pub(super) feature_B: Feature,
    pub(super) scratch: Scratch,
    pub(super) search: WitnessSearch,
}
