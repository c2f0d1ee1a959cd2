//! Two fingers of two links each turn a disc in their plane. The tips roll on the disc without slipping.

use std::sync::Arc;

use super::super::error::ExperimentError;
use super::ilqr::{self, PlanCost};
use super::task::{ITERATIONS, KAPPAS, Task, execute, execute_dynamic};
use crate::contact::ContactProperties;
use crate::geometry::Shape;
use crate::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use crate::multibody::{JointKind, JointLimits, JointSpec, State};
use crate::picture::{self, ScenePicture, View};
use crate::scene::{Actuator, Scene, SceneBuilder};
use crate::stepping::{JointCommand, JointTarget, QuasistaticStepping, Simulation, Snapshot, StepSettings, Stepping};

/// Number of steps and their length \[ns\].
const STEPS: usize = 20;
const STEP_NS: u64 = 100_000_000;
/// The wanted turn of the disc \[rad\].
const TURN: f64 = 0.5;
/// The length of a link, the radii of a tip and the disc, and the distance of a finger's base from the
/// middle \[m\].
const LINK: f64 = 0.1;
const TIP: f64 = 0.01;
const DISC: f64 = 0.05;
const BASE: f64 = 0.0633;
/// The angles of the links at the start, and the squeeze of the first commands \[rad\].
const ANGLES: [f64; 2] = [2.1, -1.1];
const SQUEEZE: f64 = 0.04;
/// Weights of the disc's position [1/m2], its angle and the joints of the fingers [1/rad2], and of the
/// controls.
const WEIGHTS: [f64; 4] = [2e4, 2e2, 1e-2, 0.05];
const LAST: f64 = 10.0;
const PICTURE: (usize, usize) = (960, 720);
/// Acceleration of gravity, along the plane of the disc [m/s2].
const GRAVITY: f64 = 9.81;

/// Plans the turn of the disc, and executes the plan.
///
/// # Errors
/// A step without a solution.
pub fn turn() -> Result<Task, ExperimentError> {
    let scene = scene()?;
    let start = start(&scene);
    let settings = StepSettings {
        stepping: Stepping::Quasistatic(QuasistaticStepping::default()),
        step_ns: STEP_NS,
        ..StepSettings::default()
    };
    let mut simulation = Simulation::new(scene.clone(), start, settings)?;
    let target = |position: f64| JointTarget { position: Some(position), ..JointTarget::default() };
    let q = simulation.state().q.clone();
    let squeezed = [q[0] - SQUEEZE, q[1] - SQUEEZE, q[2] + SQUEEZE, q[3] + SQUEEZE];
    let command: JointCommand =
        squeezed.into_iter().map(target).chain(std::iter::repeat_n(JointTarget::default(), 3)).collect();
    // The fingers close before the plan begins.
    for _ in 0..5 {
        simulation.step(&command)?;
    }
    let pose = |simulation: &Simulation| {
        let q = &simulation.state().q;
        [q[4], q[5], q[6]]
    };
    let [x, y, angle] = pose(&simulation);
    let wanted: Vec<[f64; 3]> = (0..=STEPS)
        .map(|number| {
            let s = number as f64 / STEPS as f64;
            [x, y, angle + TURN * s * s * (3.0 - 2.0 * s)]
        })
        .collect();
    let here = simulation.state().q.clone();
    let reference = wanted[1..].iter().map(|pose| [&here[..4], pose.as_slice()].concat()).collect();
    let mut weights = vec![WEIGHTS[2]; 4];
    weights.extend([WEIGHTS[0], WEIGHTS[0], WEIGHTS[1]]);
    let cost = PlanCost { reference, weights, last: LAST, control: WEIGHTS[3] };
    let commands = vec![command; STEPS];
    let plan = ilqr::plan(&simulation, &cost, &commands, &KAPPAS, ITERATIONS)?;

    let mut pictures = Vec::new();
    let dynamic = execute_dynamic(&simulation, &plan.commands, pose, |number, simulation| {
        let name = match number {
            0 => "plan_turn_start",
            STEPS => "plan_turn_end",
            _ => return Ok(()),
        };
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let view = View {
            direction: Some((-1.2, 1.1)),
            distance: Some(0.6),
            target_W: Some(Vector3::new(0.0, 0.1, 0.0)),
            ..View::default()
        };
        let scene = simulation.scene();
        let picture =
            ScenePicture { scene, snapshot: &snapshot, visuals: &[], view, contact: false, size: PICTURE, title: "" };
        pictures.push((name, picture::scene_picture(&picture)?));
        Ok(())
    })?;
    Ok(Task {
        name: "turn",
        times: (0..=STEPS).map(|number| number as f64 * STEP_NS as f64 * 1e-9).collect(),
        planned: plan.path.iter().map(|q| [q[4], q[5], q[6]]).collect(),
        quasistatic: execute(simulation.clone(), &plan.commands, pose)?,
        dynamic,
        wanted,
        costs: plan.costs,
        pictures,
    })
}

/// The scene. Its coordinates are the joints of the fingers, then x, y and the angle of the disc.
fn scene() -> Result<Arc<Scene>, ExperimentError> {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.6), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    let inertia =
        |mass: f64| SpatialInertia::from_central(mass, &Vector3::zeros(), &(Matrix3::identity() * mass * 1e-3));
    let along = |builder: &mut SceneBuilder, name: &str, parent: BodyIndex, x: f64, kind, axis_F: Vector3| {
        let body = builder.add_body(name, inertia(if kind == JointKind::Revolute { 0.1 } else { 1e-3 }));
        let spec = JointSpec {
            axis_F,
            X_PF: RigidTransform::translation(x, 0.0, 0.0),
            limits: JointLimits::NONE,
            ..JointSpec::new(&format!("{name}_joint"), parent, body, kind)
        };
        builder.add_joint(spec).map(|joint| (body, joint))
    };
    for (side, x) in [("left", -BASE), ("right", BASE)] {
        let (mut parent, mut x) = (BodyIndex::WORLD, x);
        for link in ["upper", "lower"] {
            let name = format!("{side}_{link}");
            let (body, joint) = along(&mut builder, &name, parent, x, JointKind::Revolute, Vector3::z())?;
            let actuator = Actuator { stiffness: 50.0, damping: 2.0, gravity_compensation: true, ..Actuator::PASSIVE };
            builder.set_actuator(joint, actuator);
            (parent, x) = (body, LINK);
        }
        builder.add_geometry(
            parent,
            "tip",
            RigidTransform::translation(LINK, 0.0, 0.0),
            Shape::Sphere { radius: TIP },
            &rigid,
        )?;
    }
    let (slider, _) = along(&mut builder, "slider", BodyIndex::WORLD, 0.0, JointKind::Prismatic, Vector3::x())?;
    let (lift, _) = along(&mut builder, "lift", slider, 0.0, JointKind::Prismatic, Vector3::y())?;
    let (disc, _) = along(&mut builder, "disc", lift, 0.0, JointKind::Revolute, Vector3::z())?;
    builder.add_geometry(disc, "disc", RigidTransform::identity(), Shape::Sphere { radius: DISC }, &rigid)?;
    Ok(Arc::new(builder.build(Vector3::y() * -GRAVITY)?))
}

/// The disc rests on the tips: its centre is a little above the line between them.
fn start(scene: &Scene) -> State {
    let [upper, bend] = ANGLES;
    let x = -BASE + LINK * (upper.cos() + (upper + bend).cos());
    let y = LINK * (upper.sin() + (upper + bend).sin());
    let reach = TIP + DISC - 1e-4;
    let pi = std::f64::consts::PI;
    let mut state = scene.model().default_state();
    let below = (reach * reach - x * x).max(0.0).sqrt();
    state.q.copy_from_slice(&[upper, bend, pi - upper, -bend, 0.0, y + below, 0.0]);
    state
}
