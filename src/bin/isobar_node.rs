//! The ROS 2 node.
fn main() { let _ = r2r::Context::create(); }
