//! The report of a step whose friction is not that of Coulomb's law.

use std::fmt;

use super::result::PairFriction;
use crate::scene::Scene;

/// Two geometries whose friction in the last step still differs from Coulomb's law after all rounds.
/// `Display` gives a sentence with the names, the amounts and the remedy.
#[derive(Clone, Copy, Debug)]
pub struct WrongFriction<'a> {
    scene: &'a Scene,
    wrong: PairFriction,
    /// \[s\]
    step: f64,
}

impl<'a> WrongFriction<'a> {
    pub(super) fn new(scene: &'a Scene, wrong: PairFriction, step: f64) -> Self {
        Self { scene, wrong, step }
    }

    /// Index of the pair in [`Scene::contact_pairs`].
    pub fn pair(&self) -> usize {
        self.wrong.pair
    }
    /// Names of the two geometries.
    pub fn geometries(&self) -> [&'a str; 2] {
        let pair = &self.scene.contact_pairs()[self.wrong.pair];
        [pair.A, pair.B].map(|index| self.scene.geometries()[index].name.as_str())
    }
    /// Difference of friction from Coulomb's law \[N\].
    pub fn force(&self) -> f64 {
        self.wrong.force
    }
    /// Limit of the pair's friction, mu times its normal force \[N\].
    pub fn limit(&self) -> f64 {
        self.wrong.limit
    }
}

impl fmt::Display for WrongFriction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (PairFriction { force, limit, .. }, [a, b]) = (self.wrong, self.geometries());
        write!(
            f,
            "the friction between `{a}` and `{b}` differs from Coulomb's law by {force:.2e} N, at a limit of \
             {limit:.2e} N: their normal force changes too much within a step of {} ms; take a shorter step",
            1e3 * self.step,
        )
    }
}
