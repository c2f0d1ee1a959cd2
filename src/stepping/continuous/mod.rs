//! The continuous model: accelerations from the forces of the present state, integrated with error control.
//!
//! The state (q, v) obeys  q' = N(q) v,  M(q) v' = tau(q, v) + sum of J^T F(q, v) [Elandt 2019; Masterjohn
//! 2022, section II], with the contacts of [`ContinuousContacts`](super::contacts::ContinuousContacts) and
//! the joints of [`joints`]. It is advanced by Radau IIA of order 5 ([`radau`]), in parts whose estimated
//! error is within the tolerance. Parts end exactly where the step of the simulation ends, because commands
//! may change there. The length of the next part is the only memory.

mod dense;
mod forces;
mod joints;
mod radau;
mod step;

pub(super) use step::ContinuousStep;
