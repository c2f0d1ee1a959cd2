//! The report of a contact that the step found too late, or whose pressure does not stop its bodies.

use std::fmt;

use super::contacts::Missed;
use crate::scene::Scene;

/// Two geometries that may pass through each other: in the last step their contact was found too late, or its
/// pressure did not stop them. `Display` gives a sentence with the names, the amounts and the remedy.
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
        let Missed { pair, travel, pressed, depth } = self.missed;
        let pair = &self.scene.contact_pairs()[pair];
        let names = [pair.A, pair.B].map(|index| &self.scene.geometries()[index].name);
        write!(f, "`{}` and `{}` ", names[0], names[1])?;
        let (ms, mm) = (1e3 * self.step, 1e3);
        match pressed {
            None if depth.is_infinite() => write!(
                f,
                "move by {:.1} mm against each other in a step of {ms} ms, beyond where their contact is known, so that \
                 they may pass through each other: take a shorter step",
                mm * travel,
            ),
            None => write!(
                f,
                "met within a step of {ms} ms and approached by another {:.1} mm. Half the thickness of the thinner \
                 compliant one is {:.1} mm, so they may pass through each other: take a step of at most {:.2} ms, or \
                 surfaces of the free path (`contact: {{ surfaces: free_path, friction_bound: solved }}`, the defaults)",
                mm * travel,
                mm * depth,
                ms * (depth / travel).min(0.5),
            ),
            Some(pressed) if pressed > 2.0 * depth => write!(
                f,
                "are pressed in by {:.1} mm, so that one is nearly inside the other, and approach by another {:.1} mm in \
                 a step of {ms} ms: take a stiffer material",
                mm * pressed,
                mm * travel,
            ),
            Some(pressed) => write!(
                f,
                "press each other in by {:.1} mm and approach by another {:.1} mm in a step of {ms} ms. Half the \
                 thickness of the thinner compliant one is {:.1} mm, so they may pass through each other: take a \
                 stiffer material, or, if they approach by more than they are pressed in, a shorter step",
                mm * pressed,
                mm * travel,
                mm * depth,
            ),
        }
    }
}
