//! The report of a contact that was found too late because the step was too long.

use std::fmt;

use super::contacts::Missed;
use crate::scene::Scene;

/// Two geometries that met so fast in the last step that their contact was found too late: they may pass
/// through each other. `Display` gives a sentence with the names, the amounts and the remedy.
#[derive(Clone, Copy, Debug)]
pub struct MissedContact<'a> {
    scene: &'a Scene,
    missed: Missed,
    /// \[s\]
    step: f64,
}

impl<'a> MissedContact<'a> {
    pub(super) fn new(scene: &'a Scene, missed: Missed, step: f64) -> Self {
        Self { scene, missed, step }
    }

    /// Index of the pair in [`Scene::contact_pairs`].
    pub fn pair(&self) -> usize {
        self.missed.pair
    }
}

impl fmt::Display for MissedContact<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missed { pair, travel, depth } = self.missed;
        let pair = &self.scene.contact_pairs()[pair];
        let name = |index| &self.scene.geometries()[index].name;
        write!(
            f,
            "`{}` and `{}` met within a step of {} ms and approached by another {:.1} mm; half the thickness of the thinner \
             compliant one is {:.1} mm, so they may pass through each other: take a step of at most {:.2} ms, or set \
             `contact: {{ surfaces: free_path }}`",
            name(pair.A),
            name(pair.B),
            1e3 * self.step,
            1e3 * travel,
            1e3 * depth,
            1e3 * self.step * (depth / travel).min(0.5),
        )
    }
}
