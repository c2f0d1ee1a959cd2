//! Robots as plain data, whichever file they came from: described, put into a scene, inspected.

mod description;
pub mod inspect;
mod placement;

pub use description::{
    CollisionElement, CollisionFilterGroup, ControllerGains, Inertial, Joint, Limits, Link, LoadWarning,
    RobotDescription, VisualElement,
};
pub use placement::{PlacedRobot, RobotPlacement, add_robot, visuals};
