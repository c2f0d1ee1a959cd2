//! Physics off the beaten track: heavy loads on light bodies, spin, impacts, coarse faces. Scenes that nobody tuned, against closed forms and laws.

mod bodies;
mod free_flight;
mod rigid_force;
