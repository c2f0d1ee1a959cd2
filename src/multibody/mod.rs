//! Articulated bodies in minimal coordinates: a constant [`Model`], a [`State`] (q, v), and [`Data`] for all
//! results and intermediates, so that no algorithm allocates. Each algorithm is a function `(model, input,
//! data)`.
//!
//! The equation of motion is  M(q) vdot + c(q, v) = tau_g(q) + tau + J^T F.
//!
//! ```
//! use isobar::math::{Matrix3, SpatialInertia, Vector3};
//! use isobar::multibody::{Data, ModelBuilder, kinematics, mass_matrix};
//!
//! let mut builder = ModelBuilder::new();
//! let inertia = SpatialInertia::from_central(2.0, &Vector3::zeros(), &(Matrix3::identity() * 0.1));
//! let ball = builder.add_body("ball", inertia); // no joint: it floats
//! let model = builder.build(Vector3::new(0.0, 0.0, -9.81))?;
//! let state = model.default_state();
//! let mut data = Data::new(&model);
//! kinematics(&model, &state, &mut data);
//! mass_matrix(&model, &mut data);
//! assert_eq!(model.body_dofs(ball).len(), 6);
//! assert_eq!(data.M[(5, 5)], 2.0);
//! # Ok::<(), isobar::multibody::ModelError>(())
//! ```

mod bias;
mod body;
mod builder;
mod data;
mod energy;
mod error;
mod free_body;
mod free_motion;
mod free_start;
mod integrate;
pub mod jacobian;
mod joint;
mod kinematics;
mod mass_check;
mod mass_matrix;
mod model;
mod state;
mod topology;
mod torque_free;
mod tree_flow;

pub use bias::{bias, inverse_dynamics};
pub(crate) use bias::{gravity, weight_hessian, weight_stiffness};
pub use body::Body;
pub use builder::ModelBuilder;
pub use data::Data;
pub use energy::{Energy, energy, spring_energy};
pub use error::ModelError;
pub use free_motion::FreeMotion;
pub use free_start::{FreeMotionError, FreeStart};
pub use integrate::{displacement, integrate};
pub use joint::{Joint, JointKind, JointLimits, JointSpec, JointSpring, Mimic, MimicOf};
pub use kinematics::{kinematics, positions, velocities};
pub use mass_matrix::mass_matrix;
pub use model::Model;
pub use state::State;
