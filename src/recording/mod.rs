//! The recorded and published quantities of a simulation and their times: named outputs, external
//! wrenches, units, rates. The files are in `io`.

mod outputs;
mod pushed_bodies;
mod rates;
mod units;

pub use outputs::{ForceComponent, IMU_VALUES, Output, Outputs, PatchFilter, Quantity};
pub use pushed_bodies::PushedBodies;
pub use rates::{Due, Rates};
pub use units::{JointUnits, joint_units};
