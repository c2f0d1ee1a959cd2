//! The reasons why a quasistatic step, or a part of one, was not taken, and their errors with names.

use crate::multibody::{Model, State};
use crate::scene::Scene;
use crate::solvers::quasistatic::{ProblemPart, QuasistaticError};
use crate::stepping::command::JointCommand;
use crate::stepping::contacts::{Misjudged, PathMistake};
use crate::stepping::error::{StepError, Unsettled, joint_of_dof};
use crate::stepping::input::StepInput;

/// The state and the command of a part of a step. Memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct PartStart {
    pub(super) state: State,
    pub(super) command: JointCommand,
}

/// The reason why a step, or a part of one, was not taken. Names are looked up only if small parts fail too.
#[derive(Debug)]
pub(super) enum Failure {
    /// Smaller parts do not help.
    Final(StepError),
    /// The surface of this pair still moved by this distance \[m\], and with it forces miss their balance by
    /// this amount, in N or N m.
    Surface { pair: usize, moved: f64, excess: f64 },
    /// Friction of this pair differs from Coulomb's law by this force \[N\].
    Friction { pair: Option<usize>, excess: f64 },
    /// The forces along this generalized velocity miss their balance by this amount, in N or N m.
    Balance { dof: usize, excess: f64 },
    /// The loads of joints at the end of the step are not those of the program along this generalized
    /// velocity
    /// by this amount, in N or N m.
    Weights { dof: usize, excess: f64 },
    /// This loop closure is open by this much at the end of the step, or its force still turns \[m\] or
    /// \[rad\].
    Closure { closure: usize, open: f64 },
    /// The gaps of a pair along the motion are not those that the solution predicts.
    Path(PathMistake),
    /// The solver found no solution.
    Solver(StepError),
}

impl Failure {
    /// Whether smaller parts of the step remove the failure, because it is an error of the motion.
    pub(super) fn is_of_path(&self) -> bool {
        matches!(self, Self::Path(_))
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        match error {
            StepError::NotSettled { .. } => Self::Solver(error),
            error => Self::Final(error),
        }
    }
}

/// The error of a solver's failure, with names. `worst` is the part that is farthest from a solution,
/// `pair_of` gives the pair of geometries of a contact or patch, and `depth_of` the depth of a rigid pair at
/// the start.
pub(super) fn explain_solver(
    input: &StepInput<'_>,
    source: QuasistaticError,
    worst: Option<ProblemPart>,
    (pair_of, depth_of): (impl Fn(ProblemPart) -> Option<usize>, impl Fn(usize) -> f64),
) -> StepError {
    let reason = match source {
        QuasistaticError::Infeasible { parts, .. } => {
            let overlap = parts.iter().filter_map(|part| pair_of(*part)).map(depth_of).fold(0.0, f64::max);
            Unsettled::Contradiction { parts: names(input.scene, &parts, pair_of), overlap }
        }
        QuasistaticError::NotConverged { residual, status, .. } => {
            let at = match worst {
                Some(ProblemPart::Velocity(dof)) => {
                    let model = input.scene.model();
                    format!("'{}'", name_of_tree(model, model.tree_of_dof()[dof]))
                }
                Some(part) => names(input.scene, &[part], pair_of),
                None => String::new(),
            };
            Unsettled::Solver { status, at, residual }
        }
        source => return StepError::Quasistatic { time: input.time, source },
    };
    StepError::NotSettled { time: input.time, parts: 1, reason }
}

/// The pairs and joints of contradicting constraints, each once.
fn names(scene: &Scene, parts: &[ProblemPart], pair_of: impl Fn(ProblemPart) -> Option<usize>) -> String {
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        let name = match (part, pair_of(*part)) {
            (ProblemPart::Velocity(dof), _) => format!("joint '{}'", joint_of_dof(scene.model(), *dof)),
            (_, Some(pair)) => {
                let (A, B) = names_of_pair(scene, pair);
                format!("'{A}' and '{B}'")
            }
            (_, None) => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The error of a step that failed when it was taken in `parts`.
pub(super) fn explain(failure: Failure, input: &StepInput<'_>, parts: u32) -> StepError {
    let scene = input.scene;
    let reason = match failure {
        Failure::Final(error) => return error,
        Failure::Solver(StepError::NotSettled { reason, .. }) => reason,
        Failure::Solver(error) => return error,
        Failure::Path(PathMistake { pair, kind }) => {
            let (A, B) = names_of_pair(scene, pair);
            match kind {
                Misjudged::Deeper { depth } => Unsettled::Deeper { A, B, depth },
                Misjudged::Passes { depth } => Unsettled::Passes { A, B, depth },
                Misjudged::Beyond { gap } => Unsettled::Beyond { A, B, gap },
                Misjudged::Turns { turn } => Unsettled::Turns { A, B, turn },
            }
        }
        Failure::Surface { pair, moved, excess } => {
            let (A, B) = names_of_pair(scene, pair);
            Unsettled::Surface { A, B, moved, excess }
        }
        Failure::Friction { pair, excess } => {
            let (A, B) = pair.map_or_else(Default::default, |pair| names_of_pair(scene, pair));
            Unsettled::Friction { A, B, excess }
        }
        Failure::Closure { closure, open } => {
            let name = scene.closures().get(closure).map_or_else(String::new, |closure| closure.name.clone());
            Unsettled::Closure { name, open }
        }
        Failure::Weights { dof, excess } => {
            let joint = joint_of_dof(scene.model(), dof);
            Unsettled::Weights { joint: joint.to_string(), excess }
        }
        Failure::Balance { dof, excess } => {
            let body = name_of_tree(scene.model(), scene.model().tree_of_dof()[dof]);
            Unsettled::Balance { body, excess }
        }
    };
    StepError::NotSettled { time: input.time, parts, reason }
}

/// The names of the two geometries of a pair.
pub(super) fn names_of_pair(scene: &Scene, pair: usize) -> (String, String) {
    let pair = &scene.contact_pairs()[pair];
    let name = |geometry| scene.geometries()[geometry].name.clone();
    (name(pair.A), name(pair.B))
}

/// The first body that a tree carries.
pub(super) fn name_of_tree(model: &Model, tree: usize) -> String {
    let first = model.trees()[tree].start;
    let joint = model.joints().iter().find(|joint| joint.nv > 0 && joint.v_start == first);
    joint.map_or_else(|| "unknown".to_owned(), |joint| model.bodies()[joint.child].name.clone())
}
