//! Measured tosses of a cube [Pfrommer, Halm & Posa 2020], simulated from their first states; parameters of
//! contact are identified on a part of them.

mod file;
mod identify;
mod roll;
mod study;

pub use file::{Toss, TossState, WIDTH, read_folder};
pub use identify::{Fit, identify};
pub use roll::{CubeContact, TossErrors, roll};
pub use study::{ContactRow, TossStudy, study};
