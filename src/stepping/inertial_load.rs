//! The report of a quasistatic step in which inertial forces are not small compared with contact forces.

use std::fmt;

use super::quasistatic::InertialPart;
use crate::math::BodyIndex;
use crate::scene::Scene;

/// A quasistatic step is reported if an inertial force exceeds this fraction of the contact forces [-].
const SHARE_MAX: f64 = 0.1;

/// A body whose inertial force was more than 10 % of the contact forces on it in the last quasistatic step,
/// so that these forces are not those of an equilibrium. `Display` gives a sentence with the name, the amount
/// and the remedy.
#[derive(Clone, Copy, Debug)]
pub struct InertialLoad<'a> {
    scene: &'a Scene,
    body: BodyIndex,
    share: f64,
}

impl<'a> InertialLoad<'a> {
    /// The load, if it is large enough to be reported.
    pub(super) fn new(scene: &'a Scene, part: InertialPart) -> Option<Self> {
        let body = part.body.filter(|_| part.share > SHARE_MAX)?;
        Some(Self { scene, body, share: part.share })
    }

    /// The body.
    pub fn body(&self) -> BodyIndex {
        self.body
    }
}

impl fmt::Display for InertialLoad<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "inertia takes {:.0} % of the contact force on `{}` in this quasistatic step: move it more slowly, set \
             `quasistatic: {{ inertia: drag }}` with a larger `time_constant`, or take dynamic steps",
            100.0 * self.share,
            self.scene.model().bodies()[self.body].name,
        )
    }
}
