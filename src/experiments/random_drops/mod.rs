//! Random drops of single bodies on the ground: they gain no energy, stay finite, and come to rest.

mod drop;
mod run;
mod study;

pub use drop::Drop;
pub use run::DropRow;
pub use study::{DropStudy, study};
