//! Errors of building or changing a scene.

use crate::geometry::GeometryError;
use crate::multibody::ModelError;

/// The reason why a scene cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SceneBuildError {
    /// The bodies and joints do not form a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A geometry cannot be tessellated.
    #[error("collision geometry '{geometry}' of body '{body}' cannot be tessellated")]
    Geometry {
        /// The geometry's name.
        geometry: String,
        /// Its body's name.
        body: String,
        /// The cause.
        source: GeometryError,
    },
    /// A contact property is out of its range.
    #[error("collision geometry '{geometry}': {property} is {value}; it must be {range}")]
    Property {
        /// The geometry's name.
        geometry: String,
        /// The name of the property.
        property: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values.
        range: &'static str,
    },
    /// A refinement of the tessellations that is not positive and finite.
    #[error(
        "the refinement is {value}: give a positive number, such as 1 (as stated in the files) or 2 (twice as fine)"
    )]
    Refinement {
        /// The refinement [-].
        value: f64,
    },
}

/// The reason why a scene was not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneChangeError {
    /// A gravity that is not finite.
    #[error(transparent)]
    Gravity(#[from] ModelError),
    /// An index outside the scene's joints.
    #[error(
        "there is no joint with index {joint}: give one below {count}, the number of joints with one degree of freedom"
    )]
    UnknownJoint {
        /// The index.
        joint: usize,
        /// Number of joints.
        count: usize,
    },
    /// A stiffness or damping that is negative or not finite.
    #[error("the {gain} of joint '{joint}' is {value}: give a finite number that is not negative")]
    Gain {
        /// The joint.
        joint: String,
        /// Stiffness or damping.
        gain: &'static str,
        /// Its value [N m/rad, N/m, N m s/rad, N s/m].
        value: f64,
    },
}
