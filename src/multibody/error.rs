//! Errors of building or checking a model.

/// The reason why a body, a joint or a whole model was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Two bodies have the same name.
    #[error("two bodies are named '{name}': rename one of them")]
    DuplicateBody {
        /// The name.
        name: String,
    },
    /// Two joints have the same name. The floating joint of a body without a joint has the name of the body.
    #[error("two joints are named '{name}': rename one of them")]
    DuplicateJoint {
        /// The name.
        name: String,
    },
    /// A number that is not finite, or out of its range.
    #[error("{what} of '{name}' is {value}: give {expected}")]
    InvalidNumber {
        /// The body or joint.
        name: String,
        /// The name of the number.
        what: &'static str,
        /// The number.
        value: f64,
        /// The accepted values.
        expected: &'static str,
    },
    /// An axis too short to have a direction.
    #[error("the axis of joint '{joint}' has length {length:e}: give a direction such as (0, 0, 1)")]
    ZeroAxis {
        /// The joint.
        joint: String,
        /// The axis' length [-].
        length: f64,
    },
    /// A body index that the builder has not returned.
    #[error("joint '{joint}' names body number {body}, but there are only {count}: add the body before its joints")]
    UnknownBody {
        /// The joint.
        joint: String,
        /// The body's number.
        body: usize,
        /// Number of bodies, including the world.
        count: usize,
    },
    /// The world as a child.
    #[error("joint '{joint}' has the world as its child: swap parent and child")]
    WorldIsChild {
        /// The joint.
        joint: String,
    },
    /// A body with two parents: a closed chain.
    #[error(
        "body '{body}' is the child of joint '{first}' and of joint '{second}', but a body has one parent: remove one of \
         the joints, and close the chain with `closures` in the scene file"
    )]
    TwoParents {
        /// The body.
        body: String,
        /// The joint that was added first.
        first: String,
        /// The joint that closes the chain.
        second: String,
    },
    /// Joints that form a ring without a path to the world.
    #[error(
        "joint '{joint}' closes a ring through body '{body}', and the ring has no path to the world: remove or reverse the joint"
    )]
    Ring {
        /// The body.
        body: String,
        /// The joint of which it is the child.
        joint: String,
    },
    /// A mimic of a joint that does not exist.
    #[error("joint '{joint}' mimics '{leader}', which does not exist: correct the name or remove the mimic")]
    MimicUnknown {
        /// The joint that follows.
        joint: String,
        /// The name that it stated.
        leader: String,
    },
    /// A mimic between joints, one of which does not have exactly one degree of freedom.
    #[error(
        "joint '{joint}' mimics '{leader}', but '{culprit}' has {dofs} degrees of freedom: only revolute, continuous \
         and prismatic joints can mimic and be mimicked"
    )]
    MimicNotScalar {
        /// The joint that follows.
        joint: String,
        /// The joint that leads.
        leader: String,
        /// The one of the two that is at fault.
        culprit: String,
        /// Its degrees of freedom.
        dofs: usize,
    },
    /// Mimics that follow each other in a circle.
    #[error("joint '{joint}' mimics itself through other joints: let one joint of the circle lead")]
    MimicCircle {
        /// A joint of the circle.
        joint: String,
    },
    /// A motion without inertia: the mass matrix would be singular.
    #[error(
        "the motion of joint '{joint}' has no inertia of its own (body '{body}' with its descendants: {:.6} kg): give \
         '{body}' mass and inertia, or the joint an armature, or make the joint fixed",
        mass
    )]
    Massless {
        /// The child body of the joint.
        body: String,
        /// The joint.
        joint: String,
        /// Mass of the body and its descendants \[kg\].
        mass: f64,
    },
}

/// Refuses numbers that are not finite.
pub(super) fn check_finite(name: &str, what: &'static str, values: &[f64]) -> Result<(), ModelError> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => {
            Err(ModelError::InvalidNumber { name: name.to_owned(), what, value, expected: "finite numbers" })
        }
        None => Ok(()),
    }
}
