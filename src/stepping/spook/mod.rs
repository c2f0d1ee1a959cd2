//! Steps with contacts as regularized, stabilized complementarity conditions, as the integrator SPOOK takes
//! them [Lacoursiere 2007; Andersson 2021, chapter 3].

mod directions;
mod memory;
mod step;

pub(super) use step::SpookStep;
