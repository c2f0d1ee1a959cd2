//! Errors of making a simulation and of taking a step.

use crate::multibody::{Model, ModelError};
use crate::solvers::complementarity::RefusedSettings;
use crate::solvers::quasistatic::QuasistaticError;

/// The reason why a simulation cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A state has the wrong size or is not finite.
    #[error("the state has {q} positions and {v} velocities; the model has {nq} and {nv}, all finite")]
    InitialState {
        /// Positions given.
        q: usize,
        /// Velocities given.
        v: usize,
        /// Positions of the model.
        nq: usize,
        /// Velocities of the model.
        nv: usize,
    },
    /// A setting that is not positive and finite, such as a step of zero.
    #[error("{setting} is {value}; it must be positive and finite")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        value: f64,
    },
    /// A joint moves bodies without mass or inertia, which dynamic steps cannot.
    #[error(transparent)]
    Mass(#[from] ModelError),
    /// Settings of the complementarity solver that do not go together.
    #[error(transparent)]
    Complementarity(#[from] RefusedSettings),
}

/// The reason why a step was not taken. The simulation stays at its last good state.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The number of joints of the command differs from that of the scene.
    #[error("the command has {given} joints; the scene has {expected}: make it with JointCommand::new(&scene)")]
    CommandLength {
        /// Joints of the command.
        given: usize,
        /// Joints of the scene.
        expected: usize,
    },
    /// A command that is not finite.
    #[error("the command of joint '{joint}' is not finite: send finite numbers")]
    CommandNotFinite {
        /// The joint.
        joint: String,
    },
    /// An external wrench that is not finite.
    #[error("the external wrench on body '{body}' is not finite: give finite numbers")]
    WrenchNotFinite {
        /// The body.
        body: String,
    },
    /// A mass matrix that is not positive definite.
    #[error(
        "t = {time} s: the mass matrix is singular at velocity {dof} ({name}): give its bodies mass and rotational inertia"
    )]
    SingularMass {
        /// Simulated time \[s\].
        time: f64,
        /// The generalized velocity.
        dof: usize,
        /// The joint that it belongs to.
        name: String,
    },
    /// A purely quasistatic step with a body that nothing supports.
    #[error(
        "t = {time} s: nothing supports '{name}', and without inertia its fall is undefined: put it on a support, or switch the mass term on (inertia: mass)"
    )]
    NoSupport {
        /// Simulated time \[s\].
        time: f64,
        /// The body.
        name: String,
    },
    /// The convex program of a quasistatic step has no solution, or none was found.
    #[error("t = {time} s: the quasistatic step was not taken; the last good state stays")]
    Quasistatic {
        /// Simulated time \[s\].
        time: f64,
        /// The status of the solver.
        source: QuasistaticError,
    },
    /// A body or link that turns many times within a step.
    #[error(
        "t = {time} s: a body or link turns by {turn:.0} rad within a step, too fast to follow; the last good state stays. Reduce the step, or check the efforts and wrenches that spin it"
    )]
    Spin {
        /// Simulated time \[s\].
        time: f64,
        /// The turn \[rad\].
        turn: f64,
    },
    /// The solver's residual is not a number.
    #[error(
        "t = {time} s: the residual of the step is not a number: speeds or forces overflow; the last good state stays. Reduce the step, or check stiffness, damping and efforts"
    )]
    Residual {
        /// Simulated time \[s\].
        time: f64,
    },
    /// The solution is not finite.
    #[error(
        "t = {time} s: the velocity of joint '{joint}' is not finite; the last good state stays. Reduce the step, or check stiffness, damping and efforts"
    )]
    NotFinite {
        /// Simulated time \[s\].
        time: f64,
        /// The joint.
        joint: String,
    },
}

/// The name of the joint that a generalized velocity belongs to.
pub(super) fn joint_of_dof(model: &Model, dof: usize) -> String {
    model
        .joints()
        .iter()
        .find(|joint| (joint.v_start..joint.v_start + joint.nv).contains(&dof))
        .map_or_else(|| "unknown".to_owned(), |joint| joint.name.clone())
}
