//! Small scenes that several tests share.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::{PointContacts, RigidShape, RigidWorkspace, Shape, SurfaceMesh, contact_points};
use isobar::math::{BodyIndex, JointIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, State};
use isobar::robot::{RobotDescription, RobotPlacement, add_robot};
use isobar::scene::{Actuator, Scene, SceneBuilder};
use isobar::stepping::{JointCommand, QuasistaticStepping, Simulation, StepSettings, Stepping, UnactuatedInertia};

/// Standard gravity for the laws [m/s2].
pub(crate) const GRAVITY: f64 = 9.81;

pub(crate) fn at(x: f64, y: f64, z: f64) -> RigidTransform {
    RigidTransform::translation(x, y, z)
}

/// The points of two rigid shapes that are nearer to each other than `detection` [m].
pub(crate) fn points_of(
    a: &Shape,
    X_WA: &RigidTransform,
    b: &Shape,
    X_WB: &RigidTransform,
    detection: f64,
) -> PointContacts {
    let [a, b] = [a, b].map(|shape| RigidShape::new(shape).expect("a shape"));
    let mut out = PointContacts::default();
    contact_points(&a, X_WA, &b, X_WB, detection, &mut RigidWorkspace::default(), &mut out);
    out
}

pub(crate) fn compliant(modulus: f64, dissipation: f64, friction: f64) -> ContactProperties {
    ContactProperties {
        compliant: Some(true),
        hydroelastic_modulus: Some(modulus),
        hunt_crossley_dissipation: Some(dissipation),
        mu_dynamic: Some(friction),
        ..ContactProperties::default()
    }
}

/// One free body of `shape` above a rigid half space z <= 0 of the same friction, origin at its centre of
/// mass.
pub(crate) fn body_on_ground(
    shape: Shape,
    mass: f64,
    moments: Vector3,
    properties: &ContactProperties,
    gravity: Vector3,
) -> (Arc<Scene>, State, BodyIndex) {
    let mut builder = SceneBuilder::new();
    let ground = ContactProperties { compliant: Some(false), ..properties.clone() };
    builder
        .add_geometry(BodyIndex::WORLD, "ground", RigidTransform::identity(), Shape::HalfSpace, &ground)
        .expect("a ground");
    let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&moments));
    let body = builder.add_body("body", inertia);
    builder.add_geometry(body, "shape", RigidTransform::identity(), shape, properties).expect("a geometry");
    let scene = builder.build(gravity).expect("a scene");
    let state = scene.model().default_state();
    (Arc::new(scene), state, body)
}

/// A point mass [kg] on a vertical slider.
pub(crate) struct Slider {
    pub(crate) mass: f64,
    pub(crate) limits: JointLimits,
    pub(crate) friction: f64,
    pub(crate) actuator: Actuator,
}

impl Slider {
    pub(crate) fn of_mass(mass: f64) -> Self {
        Self { mass, limits: JointLimits::default(), friction: 0.0, actuator: Actuator::PASSIVE }
    }

    /// Adds the slider as body and joint `name`.
    pub(crate) fn add(&self, builder: &mut SceneBuilder, name: &str) -> JointIndex {
        let inertia = SpatialInertia::from_central(self.mass, &Vector3::zeros(), &(Matrix3::identity() * 1e-3));
        let child = builder.add_body(&format!("{name}_body"), inertia);
        let joint = builder
            .add_joint(JointSpec {
                limits: self.limits,
                friction: self.friction,
                ..JointSpec::new(name, BodyIndex::WORLD, child, JointKind::Prismatic)
            })
            .expect("a joint");
        builder.set_actuator(joint, self.actuator);
        joint
    }

    pub(crate) fn simulation(&self, gravity: f64, settings: StepSettings) -> Simulation {
        let mut builder = SceneBuilder::new();
        self.add(&mut builder, "slider");
        simulate(builder, gravity, settings)
    }
}

pub(crate) fn simulate(builder: SceneBuilder, gravity: f64, settings: StepSettings) -> Simulation {
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -gravity)).expect("a scene"));
    let initial = scene.model().default_state();
    Simulation::new(scene, initial, settings).expect("a simulation")
}

pub(crate) fn settings(step: f64) -> StepSettings {
    StepSettings { step_ns: (step * 1e9).round() as u64, ..StepSettings::default() }
}

pub(crate) fn run(simulation: &mut Simulation, command: &JointCommand, seconds: f64) {
    let steps = (seconds * 1e9 / simulation.step_ns() as f64).round() as u64;
    for _ in 0..steps {
        let report = simulation.step(command).expect("a step");
        assert!(report.solver_converged, "t = {} s: {report:?}", simulation.time());
    }
}

/// The robot alone, welded to the world, with standard gravity.
pub(crate) fn welded(robot: &RobotDescription) -> Scene {
    let mut builder = SceneBuilder::new();
    let placement = RobotPlacement {
        rename: &str::to_owned,
        weld: Some((BodyIndex::WORLD, RigidTransform::identity())),
        properties: &|_, element| element.properties.clone(),
        actuator: &|_| Actuator::PASSIVE,
        disabled_pairs: &[],
    };
    add_robot(&mut builder, robot, &placement).expect("a robot in a scene");
    builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene")
}

/// Quasistatic steps of `step` [s].
pub(crate) fn quasistatic(step: f64, inertia: UnactuatedInertia) -> StepSettings {
    let stepping = Stepping::Quasistatic(QuasistaticStepping { inertia, ..QuasistaticStepping::default() });
    StepSettings { stepping, ..settings(step) }
}

/// The warnings of a shipped scene but for that of the spatula's published inertia.
pub(crate) fn other_warnings(warnings: &[String]) -> Vec<&String> {
    warnings.iter().filter(|warning| !warning.contains("spatula_published_inertia.urdf: line")).collect()
}

/// The surface of a box about the origin, as a mesh.
pub(crate) fn cuboid_mesh(size: &Vector3) -> SurfaceMesh {
    let corner = |i: u32| Vector3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2 & 1)).add_scalar(-0.5);
    let vertices = (0..8).map(|i| corner(i).component_mul(size)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    SurfaceMesh { vertices, triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect() }
}
