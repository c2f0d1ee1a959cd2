//! The recorded and published quantities of a simulation and their times: named outputs, units, rates. The
//! files are in `io`.

mod outputs;
mod rates;
mod units;

pub use outputs::{ForceComponent, Output, Outputs, PatchFilter, Quantity};
pub use rates::{Due, Rates};
pub use units::{JointUnits, joint_units};
