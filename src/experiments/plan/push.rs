//! An iiwa pushes a box along a curve.

use std::path::Path;

use super::super::error::ExperimentError;
use super::super::key_frames::scene_picture;
use super::super::reach::reach;
use super::ilqr::{self, PlanCost};
use super::task::{ITERATIONS, KAPPAS, Task, execute, execute_dynamic};
use crate::io::package::PackageMap;
use crate::io::scene_file::{self, LoadedScene};
use crate::math::{BodyIndex, Index, RigidTransform, ScalarJointIndex, Vector3};
use crate::picture::View;
use crate::stepping::{JointCommand, JointTarget, Simulation};

/// Number of steps, of the scene's length.
const STEPS: usize = 24;
/// The way of the box along x and y \[m\].
const WAY: [f64; 2] = [0.12, 0.03];
/// The height of the frame between the fingers \[m\], and its distance from the middle of the box at the
/// start.
const HEIGHT: f64 = 0.035;
const BEHIND: f64 = 0.04 + 0.01 + 0.002;
/// Weights of the box's position [1/m2], its angle and the arm's joints [1/rad2], and of the controls.
const WEIGHTS: [f64; 4] = [2e4, 2e2, 0.5, 0.3];
const LAST: f64 = 10.0;
/// Columns and rows of a picture \[px\].
const PICTURE: (usize, usize) = (960, 720);

/// Plans the push in the scene of a file, and executes the plan.
///
/// # Errors
/// A scene that cannot be loaded or lacks the robot or the box; steps without a solution.
pub fn push(file: &Path) -> Result<Task, ExperimentError> {
    let loaded = scene_file::load(file, &PackageMap::from_environment())?;
    let body = |name: &'static str| loaded.scene.body(name).ok_or(ExperimentError::Missing { what: "body", name });
    let (tip, object) = (body("wsg50_grasp")?, body("box")?);
    let start = loaded.initial.clone();
    let mut simulation = Simulation::new(loaded.scene.clone(), start, loaded.settings)?;
    let nominal = straight_lines(&loaded, &mut simulation, tip, object)?;
    let wanted = wanted(&simulation, object);
    let commands: Vec<JointCommand> = nominal.iter().map(|q| command(&loaded, q)).collect();
    let cost = cost(&simulation, object, nominal, &wanted);
    let plan = ilqr::plan(&simulation, &cost, &commands, &KAPPAS, ITERATIONS)?;

    let pose = |simulation: &Simulation| pose_of(simulation, object);
    let mut pictures = Vec::new();
    let dynamic = execute_dynamic(&simulation, &plan.commands, pose, |number, simulation| {
        let name = match number {
            0 => "plan_push_start",
            STEPS => "plan_push_end",
            _ => return Ok(()),
        };
        let view = View {
            direction: Some((0.9, 0.45)),
            distance: Some(1.1),
            target_W: Some(Vector3::new(0.55, 0.0, 0.12)),
            ..View::default()
        };
        pictures.push((name, scene_picture(&loaded, simulation, view, PICTURE, "")?));
        Ok(())
    })?;
    let mut planned = Vec::new();
    for q in &plan.path {
        let mut copy = simulation.clone();
        let mut state = copy.state().clone();
        state.q.clone_from(q);
        copy.set_state(state)?;
        planned.push(pose(&copy));
    }
    let step = simulation.settings().step();
    Ok(Task {
        name: "push",
        times: (0..=STEPS).map(|number| number as f64 * step).collect(),
        planned,
        quasistatic: execute(simulation.clone(), &plan.commands, pose)?,
        dynamic,
        wanted,
        costs: plan.costs,
        pictures,
    })
}

/// Position and yaw of the box.
fn pose_of(simulation: &Simulation, object: BodyIndex) -> [f64; 3] {
    let X_WB = simulation.data().X_WB[object];
    let p = X_WB.translation.vector;
    [p.x, p.y, X_WB.rotation.euler_angles().2]
}

/// Brings the arm behind the box, and returns the configurations in which the gripper moves on straight
/// along the way, the first commands of the plan.
fn straight_lines(
    loaded: &LoadedScene,
    simulation: &mut Simulation,
    tip: BodyIndex,
    object: BodyIndex,
) -> Result<Vec<Vec<f64>>, ExperimentError> {
    let model = loaded.scene.model();
    let arm: Vec<_> = loaded
        .scene
        .joints()
        .iter()
        .copied()
        .filter(|joint| model.joints()[*joint].name.contains("iiwa_joint"))
        .collect();
    let rotation = simulation.data().X_WB[tip].rotation;
    let box_at = simulation.data().X_WB[object].translation.vector;
    let mut state = simulation.state().clone();
    let to = |share: f64| {
        let p = Vector3::new(box_at.x - BEHIND + WAY[0] * share, box_at.y + WAY[1] * share, HEIGHT);
        RigidTransform::from_parts(p.into(), rotation)
    };
    reach(model, &arm, tip, &to(0.0), &mut state.q)?;
    let mut q = state.q.clone();
    *simulation = Simulation::new(loaded.scene.clone(), state, loaded.settings)?;
    (1..=STEPS)
        .map(|number| {
            reach(model, &arm, tip, &to(number as f64 / STEPS as f64), &mut q)?;
            Ok(q.clone())
        })
        .collect()
}

/// The curve: along x at a constant speed, across it by a smooth step, and turned along the curve.
fn wanted(simulation: &Simulation, object: BodyIndex) -> Vec<[f64; 3]> {
    let [x, y, yaw] = pose_of(simulation, object);
    let at = |number: usize| {
        let s = number as f64 / STEPS as f64;
        let slope = WAY[1] * 6.0 * s * (1.0 - s) / WAY[0];
        [x + WAY[0] * s, y + WAY[1] * s * s * (3.0 - 2.0 * s), yaw + slope.atan()]
    };
    (0..=STEPS).map(at).collect()
}

fn command(loaded: &LoadedScene, q: &[f64]) -> JointCommand {
    let mut command = JointCommand::new(&loaded.scene);
    for (joint, index) in loaded.scene.joints().iter().enumerate() {
        let position = loaded.scene.model().joints()[*index].position(q);
        command[ScalarJointIndex::from_usize(joint)] = JointTarget { position, ..JointTarget::default() };
    }
    command
}

/// The reference of the arm is its straight motion, that of the box the curve.
fn cost(simulation: &Simulation, object: BodyIndex, nominal: Vec<Vec<f64>>, wanted: &[[f64; 3]]) -> PlanCost {
    let model = simulation.scene().model();
    let mut weights = vec![WEIGHTS[2]; model.nv()];
    let mut reference = nominal;
    if let Some(free) = model.free_joint(object) {
        weights[free.v_start..free.v_start + 6].copy_from_slice(&[0.0, 0.0, WEIGHTS[1], WEIGHTS[0], WEIGHTS[0], 0.0]);
        for (q, [x, y, yaw]) in reference.iter_mut().zip(&wanted[1..]) {
            let (sin, cos) = (0.5 * yaw).sin_cos();
            q[free.q_start..free.q_start + 4].copy_from_slice(&[cos, 0.0, 0.0, sin]);
            q[free.q_start + 4..free.q_start + 6].copy_from_slice(&[*x, *y]);
        }
    }
    PlanCost { reference, weights, last: LAST, control: WEIGHTS[3] }
}
