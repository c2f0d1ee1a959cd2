//! Plans of contact by trajectory optimization on smoothed quasistatic steps, compared with their execution:
//! an iiwa pushes a box along a curve, and a hand of two fingers turns a disc.

mod files;
mod hand;
mod ilqr;
mod push;
mod task;

pub use files::write;
pub use hand::turn;
pub use ilqr::{Plan, PlanCost, plan};
pub use push::push;
pub use task::{Miss, Task};
