//! Robots as plain data, independent of the file format: description, placement in a scene, inspection.

mod description;
pub mod inspect;
mod massless;
mod placement;

pub use description::{
    CollisionElement, CollisionFilterGroup, ControllerGains, Inertial, Joint, Limits, Link, LoadWarning,
    RobotDescription, RobotFormat, VisualElement,
};
pub use massless::fill_massless;
pub use placement::{PlacedRobot, RobotPlacement, add_robot, visuals};
