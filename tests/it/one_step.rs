//! One dynamic step of free bodies against Drake's contact approximations (lagged, similar, SAP and TAMSI),
//! with Drake's integrator.
//!
//! Tolerance, from the reference's own convergence (1e-6 relative momentum): 1e-5 of the largest speed of the
//! case plus 1e-6 m/s (1e-5 rad/s) where faces slide. Where a face sticks the solution depends on the
//! regularization speed, whose scale is an estimate in both programs: 10 v_s, and in rotation that speed at
//! an arm of 20 mm.

use std::sync::Arc;

use isobar::contact::{ContactProperties, FaceFriction};
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::scene::{Scene, SceneBuilder};
use isobar::solvers::dynamic::NewtonSettings;
use isobar::stepping::{
    ContactScheme, ContactSurfaces, DissipationModel, DynamicStepping, FrictionBound, Integrator, JointCommand,
    Simulation, Snapshot, StepSettings, Stepping,
};
use serde_json::Value;

use crate::golden;

fn vector(value: &Value) -> Vector3 {
    Vector3::from_row_slice(&golden::numbers(value))
}

fn pose(body: &Value) -> RigidTransform {
    let q = golden::numbers(&body["q_wxyz"]);
    let rotation = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]));
    RigidTransform::from_parts(vector(&body["p"]).into(), rotation.into())
}

fn shape(body: &Value) -> Shape {
    let number = |key: &str| body[key].as_f64().unwrap_or_else(|| panic!("{key} of {body}"));
    match body["type"].as_str() {
        Some("sphere") => Shape::Sphere { radius: number("radius") },
        Some("ellipsoid") => Shape::Ellipsoid { semi_axes: vector(&body["abc"]) },
        Some("box") => Shape::Box { size: vector(&body["size"]) },
        Some("cylinder") => Shape::Cylinder { radius: number("radius"), length: number("length") },
        Some("capsule") => Shape::Capsule { radius: number("radius"), length: number("length") },
        Some("half_space") => Shape::HalfSpace,
        other => panic!("no shape {other:?}"),
    }
}

/// Friction and dissipation are those of the body if it states its own, otherwise those of the case and the
/// result.
fn properties(case: &Value, body: &Value, dissipation: f64, relaxation_time: f64) -> ContactProperties {
    ContactProperties {
        compliant: Some(body["compliance"] == "compliant"),
        hydroelastic_modulus: body["E"].as_f64(),
        // Drake tessellates boxes without it
        mesh_resolution_hint: body["hint"].as_f64().filter(|_| body["type"] != "box"),
        slab_thickness: body["slab_thickness"].as_f64(),
        margin: body["margin"].as_f64(),
        hunt_crossley_dissipation: body["hunt_crossley_d"].as_f64().or(Some(dissipation)),
        // Drake adds the relaxation times of the two sides, and Isobar weights them by compliance
        relaxation_time: Some(2.0 * relaxation_time),
        mu_dynamic: body["mu"].as_f64().or(case["mu"].as_f64()),
        ..ContactProperties::default()
    }
}

struct Case {
    scene: Arc<Scene>,
    initial: State,
    /// Name and index of each free body.
    bodies: Vec<(String, BodyIndex)>,
    /// [m/s]
    largest_speed: f64,
    /// [rad/s]
    largest_turn: f64,
}

fn build(case: &Value, dissipation: f64, relaxation_time: f64) -> Case {
    let mut builder = SceneBuilder::new();
    let mut bodies = Vec::new();
    let descriptions = case["bodies"].as_object().expect("bodies");
    for (name, body) in descriptions {
        let fixed = body["fixed"] == true;
        let (index, X_BG) = if fixed {
            (BodyIndex::WORLD, pose(body))
        } else {
            let inertia = Matrix3::from_diagonal(&vector(&body["I"]));
            let mass = body["mass"].as_f64().expect("mass");
            let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &inertia);
            (builder.add_body(name, inertia), RigidTransform::identity())
        };
        builder
            .add_geometry(index, "collision", X_BG, shape(body), &properties(case, body, dissipation, relaxation_time))
            .expect("a geometry");
        if !fixed {
            bodies.push((name.clone(), index));
        }
    }
    let scene = builder.build(Vector3::new(0.0, 0.0, -9.81)).expect("a scene");
    let mut initial = scene.model().default_state();
    let (mut largest_speed, mut largest_turn) = (0.0_f64, 0.0_f64);
    for (name, index) in &bodies {
        let body = &descriptions[name];
        let V = SpatialVelocity::new(vector(&body["w"]), vector(&body["v"]));
        largest_speed = largest_speed.max(V.v.norm());
        largest_turn = largest_turn.max(V.w.norm());
        scene.model().set_free_body_pose(&mut initial, *index, &pose(body));
        scene.model().set_free_body_velocity(&mut initial, *index, &V);
    }
    Case { scene: Arc::new(scene), initial, bodies, largest_speed, largest_turn }
}

/// Whether some face of the last step sticks: slower than 10 regularization speeds.
fn sticks(snapshot: &Snapshot, stiction_tolerance: f64) -> bool {
    snapshot.contact_patches().iter().any(|patch| {
        let (A, B) = (&snapshot.V_WB[patch.body_A], &snapshot.V_WB[patch.body_B]);
        let (X_A, X_B) = (&snapshot.X_WB[patch.body_A], &snapshot.X_WB[patch.body_B]);
        patch.faces.centroid_W.iter().zip(&patch.faces.normal_W).any(|(p_WF, n)| {
            let v = B.shift(&(p_WF - X_B.translation.vector)).v - A.shift(&(p_WF - X_A.translation.vector)).v;
            (v - n * v.dot(n)).norm() < 10.0 * stiction_tolerance
        })
    })
}

/// The options of a dynamic step with the scheme of a result, as Drake takes it.
fn options(result: &Value) -> DynamicStepping {
    let lagged = DynamicStepping {
        friction_compliance: 1e-3,
        solver: NewtonSettings { tolerance: 1e-10, ..NewtonSettings::default() },
        integrator: Integrator::SemiImplicit,
        friction_bound: FrictionBound::Lagged,
        surfaces: ContactSurfaces::Start,
        ..DynamicStepping::default()
    };
    match result["approx"].as_str() {
        Some("lagged") => lagged,
        Some("similar") => DynamicStepping { scheme: ContactScheme::Similar, ..lagged },
        Some("sap") => DynamicStepping {
            scheme: ContactScheme::Sap { near_rigid: result["near_rigid"].as_f64().expect("near_rigid") },
            dissipation: DissipationModel::Linear,
            ..lagged
        },
        Some("tamsi") => DynamicStepping { scheme: ContactScheme::Tamsi, friction_compliance: 0.0, ..lagged },
        other => panic!("no scheme {other:?}"),
    }
}

/// Runs one result of a case with `options`; returns the line and whether it holds.
fn compare(case: &Value, result: &Value, options: DynamicStepping) -> (String, bool) {
    let dissipation = result["hunt_crossley_d"].as_f64().expect("hunt_crossley_d");
    let stiction_tolerance = result["stiction_tolerance"].as_f64().expect("stiction_tolerance");
    let dt = result["dt"].as_f64().expect("dt");
    let relaxation_time = result["relaxation_time"].as_f64().unwrap_or(0.1);
    let Case { scene, initial, bodies, largest_speed, largest_turn } = build(case, dissipation, relaxation_time);
    let settings = StepSettings {
        step_ns: (dt * 1e9).round() as u64,
        stiction_tolerance,
        stepping: Stepping::Dynamic(options),
        face_friction: FaceFriction::Centroid,
        ..StepSettings::default()
    };
    let mut simulation = Simulation::new(scene, initial, settings).expect("a simulation");
    let report = simulation.step(&JointCommand::default()).expect("a step");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let (mut error_v, mut error_w) = (0.0_f64, 0.0_f64);
    for (name, index) in &bodies {
        let reference = &result["bodies"][name];
        let V = &snapshot.V_WB[*index];
        error_v = error_v.max((V.v - vector(&reference["v"])).norm());
        error_w = error_w.max((V.w - vector(&reference["w"])).norm());
    }
    let stick = sticks(&snapshot, stiction_tolerance);
    let (limit_v, limit_w) = if stick {
        (10.0 * stiction_tolerance, 10.0 * stiction_tolerance / 0.02)
    } else {
        (1e-5 * largest_speed + 1e-6, 1e-5 * largest_turn + 1e-5)
    };
    let faces = result["contacts"]
        .as_array()
        .map_or(0, |contacts| contacts.iter().map(|contact| contact["faces"].as_u64().unwrap_or(0)).sum::<u64>());
    let holds = error_v <= limit_v && error_w <= limit_w && report.solver_converged;
    let line = format!(
        "one_step {:8} {:14} dt {dt:<6} d {dissipation:<4} {} faces {:3} (reference {faces:3}) error v {error_v:.1e} m/s (limit {limit_v:.1e}) w {error_w:.1e} rad/s (limit {limit_w:.1e}) {} iterations{}",
        options.scheme.name(),
        case["name"].as_str().unwrap_or("?"),
        if stick { "sticks" } else { "slides" },
        report.faces + report.faces_dropped,
        report.solver_iterations,
        if holds { "" } else { "  FAILS" },
    );
    (line, holds)
}

/// Compares all results of one approximation of Drake; returns their number.
fn compare_all(approximation: &str, change: impl Fn(DynamicStepping) -> DynamicStepping) -> usize {
    let files = golden::folder("one_step");
    let (mut failures, mut count) = (0, 0);
    for case in files.iter().flat_map(|file| file["cases"].as_array().expect("cases")) {
        for result in case["results"].as_array().expect("results") {
            if result["approx"] == approximation {
                let (line, holds) = compare(case, result, change(options(result)));
                println!("{line}");
                failures += usize::from(!holds);
                count += 1;
            }
        }
    }
    assert_eq!(failures, 0, "see the lines marked FAILS");
    count
}

#[test]
fn one_step_agrees_with_the_lagged_reference() {
    assert!(compare_all("lagged", |options| options) >= 32);
}

#[test]
fn one_step_agrees_with_the_similar_reference() {
    assert_eq!(compare_all("similar", |options| options), 32);
}

#[test]
fn one_step_agrees_with_the_sap_reference() {
    assert_eq!(compare_all("sap", |options| options), 48);
}

#[test]
fn one_step_agrees_with_the_tamsi_reference() {
    assert_eq!(compare_all("tamsi", |options| options), 32);
}

/// The coupled scheme solves the equations of TAMSI by convex steps, so that its reference is the same. Its
/// friction has the soft norm, which differs from the quadratic law of TAMSI by (v_s/|vt|)^2/2 of friction.
#[test]
fn one_step_of_the_coupled_scheme_agrees_with_the_tamsi_reference() {
    assert_eq!(compare_all("tamsi", |options| DynamicStepping { scheme: ContactScheme::Coupled, ..options }), 32);
}
