//! Physics of extreme cases: heavy loads on light bodies, spin, impacts, coarse faces. The scenes are not
//! tuned; closed forms and laws are the oracles.

mod belts_and_springs;
mod bodies;
mod closures;
mod coulomb;
mod drops;
mod efforts;
mod far_bodies;
mod fast_bodies;
mod free_flight;
mod friction_errors;
mod held_pushes;
mod link_origins;
mod planar_push;
mod pushes;
mod reference_pushes;
mod resting;
mod rigid_barriers;
mod rigid_force;
mod rigid_landings;
mod rigid_passes;
mod rigid_points;
mod rounding;
mod sensors;
mod sliding;
mod speed_limits;
mod spook;
mod turning_bodies;
mod units;
