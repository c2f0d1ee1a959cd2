//! The headless program.
fn main() {}
