//! One push: the scene and its steps.

use std::sync::Arc;

use crate::contact::ContactProperties;
use crate::experiments::materials::{box_inertia, compliant, rigid};
use crate::experiments::push_record::{CONTACTS, largest_errors, whole_steps};
use crate::experiments::{ExperimentError, PushSample};
use crate::geometry::Shape;
use crate::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use crate::multibody::{JointKind, JointSpec};
use crate::scene::{Actuator, SceneBuilder};
use crate::stepping::{FrictionErrors, JointTarget, Simulation, Snapshot, StepSettings};

/// Edge of the object, seen from above \[m\].
pub(super) const SIDE: f64 = 0.09;
/// The object `rect1` of Yu et al. \[m\].
const SIZE: [f64; 3] = [SIDE, SIDE, 0.013];
/// Mass of the object \[kg\].
const MASS: f64 = 0.837;
/// Friction coefficient on the ground [-].
const MU_GROUND: f64 = 0.16;
/// Friction coefficient at the pusher [-].
const MU_PUSHER: f64 = 0.25;
/// Radius of the pusher \[m\].
const RADIUS: f64 = 4.75e-3;
/// Speed of the pusher [m/s].
const SPEED: f64 = 0.01;
/// Length of a push \[m\].
const LENGTH: f64 = 0.05;
/// Modulus of the pad \[Pa\].
const MODULUS_PAD: f64 = 1e7;
/// Acceleration of gravity [m/s2].
const GRAVITY: f64 = 9.81;
/// Young's modulus of the contact with the pusher, from the thesis \[Pa\].
const MODULUS: f64 = 1e6;

/// The four pushes of the thesis: contact point and angle \[degrees\].
pub const THESIS_PUSHES: [(f64, f64); 4] = [(0.5, 0.0), (0.5, 40.0), (0.8, 0.0), (0.8, -20.0)];

/// The contact of the object with the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Support {
    /// Points at the four corners.
    #[default]
    Corners,
    /// A pressure patch below the whole object.
    Pad,
}

/// The contact of the pusher with the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pusher {
    /// A point of rigid contact.
    #[default]
    Point,
    /// Two points with the area contact of eq. 3.10.
    TwoPoints,
    /// A pressure patch.
    Patch,
}

/// The properties of the object, of its contacts and of the motion of the rod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Properties {
    /// Mass of the object \[kg\].
    pub mass: f64,
    /// Friction coefficient of the object on the ground [-].
    pub mu_ground: f64,
    /// Friction coefficient of the object at the rod [-].
    pub mu_pusher: f64,
    /// Speed of the rod [m/s].
    pub speed: f64,
    /// Young's modulus of the contact of the rod \[Pa\]; points of rigid contact have none.
    pub modulus: f64,
}

/// Those of the thesis.
impl Default for Properties {
    fn default() -> Self {
        Self { mass: MASS, mu_ground: MU_GROUND, mu_pusher: MU_PUSHER, speed: SPEED, modulus: MODULUS }
    }
}

/// A push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Contact point on the pushed side, from 0 to 1 [-].
    pub contact: f64,
    /// Angle of the push from the inward normal of the side \[rad\].
    pub angle: f64,
    /// Distance of the pusher from the side at the start \[m\].
    pub gap: f64,
    /// The contact with the ground.
    pub support: Support,
    /// The contact of the pusher.
    pub pusher: Pusher,
    /// Masses, coefficients and speed.
    pub properties: Properties,
}

impl Push {
    /// The push at `contact` and `degrees`, in touch from the start, with the thesis's properties.
    pub fn new((contact, degrees): (f64, f64), support: Support, pusher: Pusher) -> Self {
        Self { contact, angle: degrees.to_radians(), gap: 0.0, support, pusher, properties: Properties::default() }
    }
}

/// Takes the steps of `push` with `settings`. Positions are in the object's own frame at the start; the
/// pushed side is at -x. `clock` returns the time for measurements \[s\].
///
/// # Errors
/// A step that fails, or settings that are refused.
pub fn take(push: &Push, settings: StepSettings, clock: &dyn Fn() -> f64) -> Result<Vec<PushSample>, ExperimentError> {
    let Properties { mass, mu_ground, mu_pusher, speed, modulus } = push.properties;
    let count = whole_steps(LENGTH / speed, settings.step())?;
    let size = Vector3::from(SIZE);
    let mut builder = SceneBuilder::new();
    let here = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &rigid(mu_ground))?;
    let object = builder.add_body("object", box_inertia(mass, &size));
    let base = match push.support {
        Support::Corners => rigid(mu_ground),
        Support::Pad => compliant(MODULUS_PAD, mu_ground),
    };
    builder.add_geometry(object, "base", here, Shape::Box { size }, &base)?;
    // The sides are pushed at the height of the ground, which does not tilt the object
    let sides = builder.add_body("sides", SpatialInertia::from_central(0.0, &Vector3::zeros(), &Matrix3::zeros()));
    let weld = JointSpec::new("sides", object, sides, JointKind::Fixed);
    builder.add_joint(JointSpec { X_PF: RigidTransform::translation(0.0, 0.0, -0.5 * size.z), ..weld })?;
    let height = 0.04;
    let around = Shape::Box { size: Vector3::new(size.x, size.y, height) };
    builder.add_geometry(sides, "sides", here, around, &rigid(mu_pusher))?;
    let tip = builder.add_body("pusher", SpatialInertia::from_central(1.0, &Vector3::zeros(), &Matrix3::identity()));
    let across = 0.5 * size.y * (1.0 - 2.0 * push.contact);
    let start = RigidTransform::translation(-0.5 * size.x - RADIUS - push.gap, across, 0.0);
    let slide = JointSpec::new("push", BodyIndex::WORLD, tip, JointKind::Prismatic);
    let axis_F = Vector3::new(push.angle.cos(), push.angle.sin(), 0.0);
    let slide = builder.add_joint(JointSpec { X_PF: start, axis_F, ..slide })?;
    builder.set_actuator(slide, Actuator { stiffness: 1e6, damping: 1e3, ..Actuator::PASSIVE });
    let length = 0.02;
    let (shape, properties) = match push.pusher {
        Pusher::Point => (Shape::Sphere { radius: RADIUS }, rigid(mu_pusher)),
        Pusher::TwoPoints => {
            // k = E A/h [eqs. 3.10 and 3.11]: each point has half of the rod's width times its height, and h
            // is the length of both bodies along the push
            let area = RADIUS * length;
            let stiffness = modulus * area / (size.x + 2.0 * RADIUS);
            let properties = ContactProperties { point_contact_stiffness: Some(stiffness), ..rigid(mu_pusher) };
            (Shape::Cylinder { radius: RADIUS, length }, properties)
        }
        Pusher::Patch => (Shape::Cylinder { radius: RADIUS, length }, compliant(modulus, mu_pusher)),
    };
    builder.add_geometry(tip, "tip", here, shape, &properties)?;
    builder.exclude_contact(BodyIndex::WORLD, tip);
    builder.exclude_contact(BodyIndex::WORLD, sides);
    builder.exclude_contact(object, tip);
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);
    let mut state = scene.model().default_state();
    scene.model().set_free_body_pose(&mut state, object, &RigidTransform::translation(0.0, 0.0, 0.5 * size.z));
    let mut simulation = Simulation::new(scene, state, settings)?;
    let (step, mut snapshot) = (settings.step(), Snapshot::default());
    let mut samples = Vec::with_capacity(count as usize);
    for number in 1..=count {
        let time = f64::from(number) * step;
        let target = JointTarget { position: Some(speed * time), velocity: Some(speed), effort: None };
        let before = clock();
        let report = simulation.step(&std::iter::once(target).collect())?;
        let took = clock() - before;
        simulation.snapshot_into(&mut snapshot);
        if let Some(depth) = too_deep(&snapshot) {
            return Err(ExperimentError::Push(format!(
                "the rod sinks into the object by {:.1} mm, more than its radius of {:.2} mm, after {time:.3} s; take a \
                 larger modulus",
                1e3 * depth,
                1e3 * RADIUS
            )));
        }
        let ground = snapshot.contact_patches().iter().filter(|patch| patch.body_A == BodyIndex::WORLD);
        let (errors, net_errors) = largest_errors(ground);
        let X_WB = simulation.data().X_WB[object];
        let contacts = by_corner(&snapshot, &X_WB);
        let along = X_WB.rotation * Vector3::x();
        let force = simulation.body_wrenches()[sides].f;
        samples.push(PushSample {
            time,
            position: [X_WB.translation.x, X_WB.translation.y],
            angle: along.y.atan2(along.x),
            force: [force.x, force.y],
            contacts,
            errors,
            net_errors,
            converged: report.solver_converged && report.friction_converged(),
            took,
        });
    }
    Ok(samples)
}

/// The depth \[m\] by which the rod is in the object if it is more than its radius: it would go through.
fn too_deep(snapshot: &Snapshot) -> Option<f64> {
    let of_rod = snapshot.contact_patches().iter().filter(|patch| patch.body_A != BodyIndex::WORLD);
    of_rod.map(|patch| patch.penetration).find(|depth| *depth > RADIUS)
}

/// The names of the contacts whose errors a push records: the corners of the base, or the quarters of its
/// pad, as seen along the push, and the rod.
pub(super) const CONTACT_NAMES: [&str; CONTACTS] = ["rear right", "rear left", "front right", "front left", "rod"];

/// The largest friction errors of the points in each quarter of the base, and of those of the rod, in the
/// order of [`CONTACT_NAMES`]. The object is at `X_WB`, and the rod pushes it along its own x axis.
fn by_corner(snapshot: &Snapshot, X_WB: &RigidTransform) -> [FrictionErrors; CONTACTS] {
    let mut errors = [FrictionErrors::default(); CONTACTS];
    for patch in snapshot.contact_patches() {
        for (p_WF, error) in patch.faces.centroid_W.iter().zip(&patch.faces.friction) {
            let p = X_WB.inverse_transform_point(&(*p_WF).into());
            let of_base = 2 * usize::from(p.x > 0.0) + usize::from(p.y > 0.0);
            let contact = if patch.body_A == BodyIndex::WORLD { of_base } else { CONTACTS - 1 };
            errors[contact] = errors[contact].max(*error);
        }
    }
    errors
}
