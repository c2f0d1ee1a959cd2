//! Quasistatic steps of whole scenes: the paper's gripper, laws of statics, pressure fields, failures.

mod closures;
mod derivatives;
mod end_loads;
mod finite_motion;
mod force_derivatives;
mod joints;
mod jumps;
mod laws;
mod loads_behind;
mod pads;
mod planar_gripper;
mod planar_laws;
mod planners;
mod pushes;
mod random_states;
mod sliding;
mod smoothed_rounds;
mod soft_turns;
mod stacking;
mod turning;

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::solvers::quasistatic::FrictionModel;
use isobar::stepping::{JointCommand, JointTarget, Simulation, StepSettings, Stepping, UnactuatedInertia};

use crate::worlds::at;

/// All kinds of inertia; results that do not depend on inertia must agree.
const INERTIAS: [UnactuatedInertia; 4] =
    [UnactuatedInertia::None, UnactuatedInertia::DRAG, UnactuatedInertia::Mass, UnactuatedInertia::SCALED];
/// A drag that is a twentieth of a percent of friction at 0.02 m/s.
const WEAK_DRAG: UnactuatedInertia = UnactuatedInertia::Drag { time_constant: 10.0 };
/// Steps from short to the longest of the paper [s].
const STEPS: [f64; 4] = [0.01, 0.1, 0.2, 0.4];

fn rigid(friction: f64) -> ContactProperties {
    ContactProperties { compliant: Some(false), mu_dynamic: Some(friction), ..ContactProperties::default() }
}

/// Impedance of stiffness k with an effort limit, without damping, which quasistatic steps do not use.
fn spring(stiffness: f64, effort_limit: f64) -> Actuator {
    Actuator { stiffness, effort_limit, ..Actuator::PASSIVE }
}

/// A finger: `shape` about the end of a slider along `axis` from `p`, without weight.
fn add_finger(
    builder: &mut SceneBuilder,
    name: &str,
    (p, axis): (Vector3, Vector3),
    limits: JointLimits,
    actuator: Actuator,
    (shape, properties): (Shape, &ContactProperties),
) -> BodyIndex {
    let inertia = SpatialInertia::from_central(1e-3, &Vector3::zeros(), &(Matrix3::identity() * 1e-6));
    let body = builder.add_body(name, inertia);
    let spec = JointSpec {
        axis_F: axis,
        X_PF: at(p.x, p.y, p.z),
        limits,
        ..JointSpec::new(&format!("{name}_joint"), BodyIndex::WORLD, body, JointKind::Prismatic)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, Actuator { gravity_compensation: true, ..actuator });
    builder.add_geometry(body, "tip", at(0.0, 0.0, 0.0), shape, properties).expect("a geometry");
    body
}

fn add_box(
    builder: &mut SceneBuilder,
    name: &str,
    size: Vector3,
    mass: f64,
    properties: &ContactProperties,
) -> BodyIndex {
    let squares = size.component_mul(&size);
    let moments = Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y) * (mass / 12.0);
    let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&moments));
    let body = builder.add_body(name, inertia);
    builder.add_geometry(body, "box", at(0.0, 0.0, 0.0), Shape::Box { size }, properties).expect("a geometry");
    body
}

fn add_ground(builder: &mut SceneBuilder, properties: &ContactProperties) {
    builder
        .add_geometry(BodyIndex::WORLD, "ground", at(0.0, 0.0, 0.0), Shape::HalfSpace, properties)
        .expect("a ground");
}

/// The scene at rest with the free bodies at `positions`.
fn simulate(
    builder: SceneBuilder,
    gravity: Vector3,
    settings: StepSettings,
    positions: &[(BodyIndex, Vector3)],
) -> Simulation {
    let scene = Arc::new(builder.build(gravity).expect("a scene"));
    let mut state = scene.model().default_state();
    for (body, p) in positions {
        scene.model().set_free_body_pose(&mut state, *body, &at(p.x, p.y, p.z));
    }
    Simulation::new(scene, state, settings).expect("a simulation")
}

/// Positions for the first joints of the scene.
fn positions(targets: &[f64]) -> JointCommand {
    let target = |position: &f64| JointTarget { position: Some(*position), ..JointTarget::default() };
    targets.iter().map(target).collect()
}

/// The same settings with the paper's scheme of friction.
fn relaxed(mut settings: StepSettings) -> StepSettings {
    if let Stepping::Quasistatic(options) = &mut settings.stepping {
        options.solver.model = FrictionModel::Relaxed;
    }
    settings
}

/// The same settings with Coulomb's law.
fn coulomb(mut settings: StepSettings) -> StepSettings {
    if let Stepping::Quasistatic(options) = &mut settings.stepping {
        options.solver.model = FrictionModel::Coulomb;
    }
    settings
}

fn bits(simulation: &Simulation) -> Vec<u64> {
    let state = simulation.state();
    state.q.iter().chain(&state.v).map(|x| x.to_bits()).collect()
}
