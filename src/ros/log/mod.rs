//! Log lines of the node: on stderr and on /rosout.

pub(crate) mod causes;
mod console;
pub(crate) mod names;
pub(crate) mod rosout;
pub(crate) mod stderr;
pub(crate) mod throttle;
