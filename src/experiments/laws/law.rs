//! A law, and the comparison of its cases with a closed form.

use crate::experiments::ExperimentError;

/// One comparison with a closed form.
#[derive(Clone, Debug, PartialEq)]
pub struct LawRow {
    /// The case.
    pub case: String,
    /// The stepping mode.
    pub mode: &'static str,
    /// The simulated value, in `unit`.
    pub found: f64,
    /// The value of the closed form, in `unit`.
    pub exact: f64,
    /// The largest difference that counts as agreement, in `unit`.
    pub tolerance: f64,
    /// The unit of all three.
    pub unit: &'static str,
}

impl LawRow {
    /// Whether the simulated value agrees.
    pub fn holds(&self) -> bool {
        (self.found - self.exact).abs() <= self.tolerance
    }
}

/// A law.
#[derive(Clone, Copy)]
pub struct Law {
    /// Its name on the command line and in the table.
    pub name: &'static str,
    /// The derivation of its tolerance.
    pub tolerance: &'static str,
    /// Simulates its cases.
    pub rows: fn() -> Result<Vec<LawRow>, ExperimentError>,
}
