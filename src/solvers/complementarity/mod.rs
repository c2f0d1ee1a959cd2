//! Mixed linear complementarity problems with bounds, and contact friction on top of them [Andersson 2021,
//! chapter 3]: the steps of SPOOK [Lacoursiere 2007].

mod cone;
#[cfg(test)]
mod contact_laws;
mod contact_problem;
mod direct;
mod free_rows;
mod gauss_seidel;
#[cfg(test)]
mod laws;
mod patch_rows;
mod problem;
mod settings;
mod solver;
mod tangent_set;

pub use contact_problem::{ComplementarityProblem, FrictionPair};
pub use direct::{DirectReport, DirectSolver, DirectStatus};
pub use patch_rows::{FaceRows, FrictionPoint, LANDING, PatchInput, TangentInput, Tangents, net_impulse};
pub use problem::{MixedProblem, Row};
pub use settings::{ComplementaritySettings, ComplementaritySolver, FrictionFrame, FrictionLaw, RefusedSettings};
pub use solver::{ComplementarityReport, ContactSolver};
