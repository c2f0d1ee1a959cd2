//! Errors of making a simulation and of taking a step.

use crate::multibody::{Model, ModelError};
use crate::solvers::complementarity::RefusedSettings;
use crate::solvers::quasistatic::QuasistaticError;

/// The reason why a simulation cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A state has the wrong size or is not finite.
    #[error("the state has {q} positions and {v} velocities: give {nq} positions and {nv} velocities, all finite")]
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
    /// More degrees of freedom than the steps take.
    #[error("the scene has {dofs} degrees of freedom; {mode} steps take at most {most}: {way_out}")]
    Size {
        /// Those of the scene.
        dofs: usize,
        /// The mode of the steps.
        mode: &'static str,
        /// The largest number.
        most: usize,
        /// The remedy.
        way_out: String,
    },
    /// A tree of bodies with more degrees of freedom than its mass matrix may have.
    #[error(
        "`{body}` and the bodies that joints and welds connect to it have {dofs} degrees of freedom; at most {most} are simulated: make joints `fixed`, or do not weld models to each other"
    )]
    TreeSize {
        /// The first body.
        body: String,
        /// The degrees of freedom of the tree.
        dofs: usize,
        /// The largest number.
        most: usize,
    },
    /// More threads than a step may have.
    #[error("`threads` is {threads}; a step has at most {most}: use as many as the computer has processors")]
    Threads {
        /// The number in the settings.
        threads: usize,
        /// The largest number.
        most: usize,
    },
    /// A setting that is out of range, such as a step of zero.
    #[error("{setting} is {value}; it must be positive and finite")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        value: f64,
    },
    /// The motion of a joint has no inertia. Only quasistatic steps can move it.
    #[error(transparent)]
    Mass(#[from] ModelError),
    /// A material whose property acts in dynamic steps only.
    #[error("`{property}` of geometry '{geometry}' acts in dynamic steps only: remove it, or use `stepping: dynamic`")]
    DynamicOnly {
        /// The property.
        property: &'static str,
        /// The geometry.
        geometry: String,
    },
    /// A loop closure in the continuous model.
    #[error(
        "the continuous model has no force for the loop closure of bodies '{a}' and '{b}': remove it from `closures`, or use `stepping: dynamic`"
    )]
    Closure {
        /// A body.
        a: String,
        /// The other one.
        b: String,
    },
    /// A setting that has no meaning in the contact scheme.
    #[error("the contact scheme `{scheme}` has no {setting}: {way_out}")]
    Scheme {
        /// The scheme.
        scheme: &'static str,
        /// The setting or property, with the geometry that it belongs to.
        setting: String,
        /// The remedy.
        way_out: &'static str,
    },
    /// A pair with both restitution and a stiffness of its contact points.
    #[error(
        "the contact of geometries '{a}' and '{b}' has both `restitution` and `point_contact_stiffness`, whose \
         springs bounce by themselves: remove one of the two"
    )]
    Bounce {
        /// A geometry.
        a: String,
        /// The other one.
        b: String,
    },
    /// Settings of the complementarity solver that contradict each other or are out of range.
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
        "t = {t} s: the mass matrix is singular at velocity {dof} ({name}): give its bodies mass and rotational inertia",
        t = seconds(.time)
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
        "t = {t} s: nothing holds '{name}', and without inertia the motion of a body that falls, slides or rolls is undefined. Put it on a support, or set `inertia: drag` or `inertia: mass`",
        t = seconds(.time)
    )]
    NoSupport {
        /// Simulated time \[s\].
        time: f64,
        /// The body.
        name: String,
    },
    /// The solver of quasistatic steps refused its settings or the problem of the step.
    #[error("t = {t} s: the quasistatic step was not taken; the last good state stays", t = seconds(.time))]
    Quasistatic {
        /// Simulated time \[s\].
        time: f64,
        /// The reason.
        source: QuasistaticError,
    },
    /// A quasistatic step whose contacts did not settle, not even in small parts.
    #[error(
        "t = {t} s: the step did not settle, in one part or in {parts}: {reason}; the last good state stays. {advice}",
        t = seconds(.time),
        advice = .reason.advice()
    )]
    NotSettled {
        /// Simulated time \[s\].
        time: f64,
        /// The largest number of parts that was tried.
        parts: u32,
        /// The part of the step that did not settle.
        reason: Unsettled,
    },
    /// Two rigid geometries that touch in the continuous model.
    #[error(
        "t = {t} s: the rigid geometries '{a}' and '{b}' touch, and the continuous model has no force between them; the last good state stays. Make one of them compliant, exclude their contact with `no_contact`, or use `stepping: dynamic`",
        t = seconds(.time)
    )]
    RigidContact {
        /// Simulated time \[s\].
        time: f64,
        /// A geometry.
        a: String,
        /// The other one.
        b: String,
    },
    /// The continuous model did not meet its tolerance.
    #[error(
        "t = {t} s: the continuous model does not meet its tolerance of {tolerance:.1e}, not even in parts of {part:.1e} s; the last good state stays. Use a larger tolerance or stiction tolerance",
        t = seconds(.time)
    )]
    Continuous {
        /// Simulated time \[s\].
        time: f64,
        /// The length of the last part \[s\].
        part: f64,
        /// The tolerance [m, rad].
        tolerance: f64,
    },
    /// A contact scheme that did not find a solution.
    #[error(
        "t = {t} s: the contact scheme `{scheme}` found no solution: {reason}; the last good state stays. Take shorter steps, or use `scheme: lagged`, which always has one",
        t = seconds(.time)
    )]
    Scheme {
        /// Simulated time \[s\].
        time: f64,
        /// The scheme.
        scheme: &'static str,
        /// The state of its iteration when it stopped.
        reason: String,
    },
    /// A body or link that turns many times within a step.
    #[error(
        "t = {t} s: a body or link turns by {turn:.0} rad within a step, too fast to follow; the last good state stays. Reduce the step, or check the efforts and wrenches that spin it",
        t = seconds(.time)
    )]
    Spin {
        /// Simulated time \[s\].
        time: f64,
        /// The turn \[rad\].
        turn: f64,
    },
    /// A complementarity step without a solution.
    #[error(
        "t = {t} s: no velocity satisfies {element} together with the other contacts, joints and limits; the last good state stays. Remove the limit, the loop closure or the contact that contradicts it",
        t = seconds(.time)
    )]
    Infeasible {
        /// Simulated time \[s\].
        time: f64,
        /// The contact, joint or loop closure whose row proves it.
        element: String,
    },
    /// Speeds or forces overflow, so that the solver's residual is not a number, or its matrix has no factor.
    #[error(
        "t = {t} s: the residual of the step is not a number: speeds or forces overflow; the last good state stays. Reduce the step, or check stiffness, damping and efforts",
        t = seconds(.time)
    )]
    Residual {
        /// Simulated time \[s\].
        time: f64,
    },
    /// The solution is not finite.
    #[error(
        "t = {t} s: the velocity of joint '{joint}' is not finite; the last good state stays. Reduce the step, or check stiffness, damping and efforts",
        t = seconds(.time)
    )]
    NotFinite {
        /// Simulated time \[s\].
        time: f64,
        /// The joint.
        joint: String,
    },
}

impl StepError {
    /// This error of a step without inertia that did not settle because nothing but contact holds `body`.
    pub(super) fn of_free_body(self, body: String) -> Self {
        match self {
            Self::NotSettled { time, parts, reason } => {
                Self::NotSettled { time, parts, reason: Unsettled::FreeBody { body, reason: Box::new(reason) } }
            }
            error => error,
        }
    }
}

/// The part of a quasistatic step that did not settle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unsettled {
    /// The surface of contact of two pressure fields differs from one solution to the next.
    #[error(
        "the contact surface of '{A}' and '{B}' still moves by {moved:.1e} m from one solution to the next, and forces miss their balance by {excess:.1e} N (or N m)"
    )]
    Surface {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// The distance \[m\].
        moved: f64,
        /// The largest missing force of a body, in N or N m.
        excess: f64,
    },
    /// Friction differs from Coulomb's law.
    #[error("friction between '{A}' and '{B}' differs by {excess:.1e} N from mu times the normal force")]
    Friction {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// The largest difference of a point or face \[N\].
        excess: f64,
    },
    /// Forces that do not balance.
    #[error("the forces on '{body}' miss their balance by {excess:.1e} N (or N m)")]
    Balance {
        /// The body.
        body: String,
        /// The difference, in N or N m.
        excess: f64,
    },
    /// A joint whose weight differs from one solution to the next.
    #[error("the weight on joint '{joint}' still changes by {excess:.1e} N m (or N) as the robot sags in the step")]
    Weights {
        /// The joint.
        joint: String,
        /// The difference [N m] or \[N\].
        excess: f64,
    },
    /// A loop closure that the motion of the step does not close.
    #[error("the loop closure '{name}' is open by {open:.1e} m (or rad) at the end, or its force still turns")]
    Closure {
        /// The closure.
        name: String,
        /// The error at the end of the step \[m\] or \[rad\].
        open: f64,
    },
    /// Rigid geometries that would end the step deeper in each other than its contact forces allow.
    #[error("'{A}' and '{B}' would end {depth:.1e} m deeper in each other than the gaps at the start predict")]
    Deeper {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// The additional depth \[m\].
        depth: f64,
    },
    /// Rigid geometries that would pass through each other.
    #[error("'{A}' and '{B}' would pass through each other: they overlap by {depth:.1e} m on their way")]
    Passes {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// The depth of their overlap on the way \[m\].
        depth: f64,
    },
    /// Rigid geometries that would hold each other although they end apart.
    #[error("'{A}' and '{B}' would hold each other although they end more than {gap:.1e} m apart")]
    Beyond {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// A distance \[m\], beyond which they end.
        gap: f64,
    },
    /// Geometries that press on each other and turn too far for one solution.
    #[error("'{A}' and '{B}' press on each other and turn by {turn:.1e} rad")]
    Turns {
        /// The first geometry.
        A: String,
        /// The other one.
        B: String,
        /// Their turn against each other or, if one carries the other by a pressure field, that of both
        /// \[rad\].
        turn: f64,
    },
    /// Contacts and limits of joints that contradict each other.
    #[error("no motion satisfies all contacts and limits of {parts}{}", overlapping(overlap))]
    Contradiction {
        /// The pairs of geometries and the joints.
        parts: String,
        /// The largest depth of one of the pairs at the start of the step \[m\].
        overlap: f64,
    },
    /// The solver of the step failed.
    #[error("{status}{}{}", at_residual(residual), farthest(at))]
    Solver {
        /// Its status.
        status: String,
        /// The body or pair that is farthest from a solution; empty if it is not known.
        at: String,
        /// Its residual.
        residual: f64,
    },
    /// A body that nothing but contact resists, in a step without inertia.
    #[error("{reason}, and nothing but contact holds '{body}' in a step without inertia")]
    FreeBody {
        /// The body.
        body: String,
        /// The part of the step that did not settle.
        reason: Box<Unsettled>,
    },
}

/// Rigid geometries that are deeper in each other than this overlap; less is the depth under a load \[m\].
const OVERLAP: f64 = 1e-6;

impl Unsettled {
    /// The advice to a person.
    fn advice(&self) -> &'static str {
        match self {
            Self::Contradiction { overlap, .. } if *overlap > OVERLAP => {
                "Move the bodies apart, free or widen their joints, or exclude their contact with `no_contact`"
            }
            Self::Weights { .. } => {
                "Stiffen the joint, set `gravity_compensation`, support the robot, or start it nearer to its balance"
            }
            Self::FreeBody { .. } => {
                "Set `quasistatic: { inertia: drag }`, or start the body where its contacts carry it"
            }
            _ => "Send smaller changes of command, or take shorter steps",
        }
    }
}

/// The end of a message about geometries that overlap.
fn overlapping(overlap: &f64) -> String {
    if *overlap > OVERLAP {
        format!("; geometries overlap by {overlap:.1e} m and cannot move apart")
    } else {
        String::new()
    }
}

/// A simulated time without the rounding of a product: a whole number of nanoseconds \[s\].
fn seconds(time: &f64) -> f64 {
    (time * 1e9).round() / 1e9
}

/// The residual of a message, unless it is not finite.
fn at_residual(residual: &f64) -> String {
    if residual.is_finite() { format!(", at residual {residual:.1e}") } else { String::new() }
}

/// The end of a message that names the part with the largest residual.
fn farthest(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!(", farthest from a solution at {at}") }
}

/// The name of the joint that a generalized velocity belongs to.
pub(super) fn joint_of_dof(model: &Model, dof: usize) -> String {
    model
        .joints()
        .iter()
        .find(|joint| (joint.v_start..joint.v_start + joint.nv).contains(&dof))
        .map_or_else(|| "unknown".to_owned(), |joint| joint.name.clone())
}
