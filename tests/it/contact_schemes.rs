//! Laws of the contact schemes of dynamic steps: their limits, their artefacts, and the options that they
//! have.

use std::sync::Arc;

use isobar::contact::{ContactProperties, FaceFriction};
use isobar::geometry::Shape;
use isobar::io::{package::PackageMap, scene_file};
use isobar::math::{BodyIndex, SpatialVelocity, Vector3};
use isobar::scene::Scene;
use isobar::solvers::dynamic::NewtonSettings;
use isobar::stepping::{
    ContactScheme, ContactSurfaces, DissipationModel, DynamicStepping, FrictionBound, JointCommand, Simulation,
    SimulationError, StepError, StepSettings, Stepping,
};

use crate::worlds::{GRAVITY, at, body_on_ground, compliant};

const SAP: ContactScheme = ContactScheme::Sap { near_rigid: 0.0 };
const SIZE: Vector3 = Vector3::new(0.1, 0.06, 0.04);
const MASS: f64 = 0.5;
const MU: f64 = 0.5;

/// The settings of a scheme, with the options that it needs.
fn with_scheme(scheme: ContactScheme, step: f64) -> StepSettings {
    let is_sap = matches!(scheme, ContactScheme::Sap { .. });
    let options = DynamicStepping {
        scheme,
        surfaces: ContactSurfaces::Start,
        dissipation: DissipationModel::Linear,
        friction_compliance: if is_sap { 1e-3 } else { 0.0 },
        ..DynamicStepping::default()
    };
    StepSettings {
        step_ns: (step * 1e9).round() as u64,
        stepping: Stepping::Dynamic(options),
        face_friction: FaceFriction::Centroid,
        ..StepSettings::default()
    }
}

/// A box on the ground at the depth `depth` \[m\], with the velocity `v` [m/s] along x.
fn sliding_box(depth: f64, v: f64) -> (Arc<Scene>, isobar::multibody::State, BodyIndex) {
    let moments = Vector3::new(1.0, 1.0, 1.0) * 1e-3;
    let properties = ContactProperties { relaxation_time: Some(0.0), ..compliant(1e6, 0.0, MU) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(Shape::Box { size: SIZE }, MASS, moments, &properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * SIZE.z - depth));
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(v, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    (scene, state, body)
}

/// A box slides to rest: all schemes end v0^2/(2 mu g) farther, with errors that fall in proportion to the
/// step. Oracle: the closed form.
///
/// Tolerance: a scheme of first order is off by h v0 at the start, and by as much again if the box rocks. The
/// schemes with a gap lift the box by mu h v0 first, without friction, so that they get three times as much.
#[test]
fn a_box_slides_the_distance_of_coulombs_law_in_all_schemes() {
    let (v0, step) = (0.5, 1e-3);
    let expected = v0 * v0 / (2.0 * MU * GRAVITY);
    for scheme in ContactScheme::ALL {
        let (scene, state, body) = sliding_box(1e-5, v0);
        let mut simulation = Simulation::new(scene, state, with_scheme(scheme, step)).expect("a simulation");
        for _ in 0..200 {
            let report = simulation.step(&JointCommand::default()).expect("a step");
            assert!(report.solver_converged, "{scheme:?}: {report:?}");
            assert_eq!(report.scheme, Some(scheme));
        }
        let slid = simulation.data().X_WB[body].translation.vector.x;
        println!("{:8} slides {:.3} mm, closed form {:.3} mm", scheme.name(), 1e3 * slid, 1e3 * expected);
        let times = if scheme == SAP || scheme == ContactScheme::Similar { 6.0 } else { 2.0 };
        assert!((slid - expected).abs() < times * step * v0, "{scheme:?}: {slid} m instead of {expected} m");
    }
}

/// The same with rigid points, whose stiffness is near-rigid in all schemes, on rigid ground.
#[test]
fn a_rigid_box_slides_the_distance_of_coulombs_law_in_all_schemes() {
    let (v0, step) = (0.5, 1e-3);
    let expected = v0 * v0 / (2.0 * MU * GRAVITY);
    let material = ContactProperties { compliant: Some(false), mu_dynamic: Some(MU), ..ContactProperties::default() };
    for scheme in ContactScheme::ALL {
        let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
        let moments = Vector3::new(1.0, 1.0, 1.0) * 1e-3;
        let (scene, mut state, body) = body_on_ground(Shape::Box { size: SIZE }, MASS, moments, &material, gravity);
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * SIZE.z));
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(v0, 0.0, 0.0));
        scene.model().set_free_body_velocity(&mut state, body, &V);
        let mut simulation = Simulation::new(scene, state, with_scheme(scheme, step)).expect("a simulation");
        for _ in 0..200 {
            let report = simulation.step(&JointCommand::default()).expect("a step");
            assert!(report.solver_converged, "{scheme:?}: {report:?}");
        }
        let slid = simulation.data().X_WB[body].translation.vector.x;
        let times = if scheme == SAP || scheme == ContactScheme::Similar { 6.0 } else { 2.0 };
        println!("{:8} slides {:.3} mm, closed form {:.3} mm", scheme.name(), 1e3 * slid, 1e3 * expected);
        assert!((slid - expected).abs() < times * step * v0, "{scheme:?}: {slid} m instead of {expected} m");
        assert!(simulation.data().V_WB[body].v.norm() < 1e-4, "{scheme:?} comes to rest");
    }
}

/// The artefact of SAP and `similar`: a body that slides at v is lifted by mu h v above the depth of its
/// weight. The others keep that depth.
///
/// Oracle: with dissipation 0 both have gamma_n = h k (delta - h (vn - mu |v|)) in steady sliding (vn = 0).
/// Tolerance: 2 % of mu h v. The rim of the box is softer, by the depth over its width.
#[test]
fn sap_and_similar_lift_a_sliding_body_by_mu_h_v() {
    let (v, step) = (0.02, 1e-3);
    let mut depths = Vec::new();
    for scheme in ContactScheme::ALL {
        let properties = ContactProperties { relaxation_time: Some(0.0), ..compliant(1e6, 0.0, MU) };
        let mut builder = isobar::scene::SceneBuilder::new();
        let ground = ContactProperties {
            compliant: Some(false),
            mu_dynamic: Some(MU),
            surface_velocity: Some(Vector3::new(v, 0.0, 0.0)),
            ..ContactProperties::default()
        };
        let identity = isobar::math::RigidTransform::identity();
        builder.add_geometry(BodyIndex::WORLD, "belt", identity, Shape::HalfSpace, &ground).expect("a belt");
        let inertia = isobar::math::SpatialInertia::from_central(
            MASS,
            &Vector3::zeros(),
            &(isobar::math::Matrix3::identity() * 10.0),
        );
        let body = builder.add_body("box", inertia);
        builder.add_geometry(body, "box", identity, Shape::Box { size: SIZE }, &properties).expect("a box");
        let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY)).expect("a scene"));
        let mut state = scene.model().default_state();
        scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * SIZE.z - 1.6e-5));
        let mut simulation = Simulation::new(scene, state, with_scheme(scheme, step)).expect("a simulation");
        // The box would move with the belt after v/(mu g) = 4 ms: a force at the belt's height holds it back
        let friction = MU * MASS * GRAVITY;
        let torque = Vector3::new(0.0, 0.5 * SIZE.z * friction, 0.0);
        let hold = isobar::math::SpatialForce::new(torque, Vector3::new(-friction, 0.0, 0.0));
        simulation.set_external_wrench(body, hold).expect("a wrench");
        for _ in 0..300 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let V = simulation.data().V_WB[body].v;
        let depth = 0.5 * SIZE.z - simulation.data().X_WB[body].translation.vector.z;
        println!("{:8} depth {:.3} um, slip {:.4} m/s", scheme.name(), 1e6 * depth, v - V.x);
        depths.push((scheme, depth, MU * step * (v - V.x)));
    }
    let deep = depths[0].1;
    for (scheme, depth, lift) in depths {
        let gap = scheme == SAP || scheme == ContactScheme::Similar;
        let expected = if gap { deep - lift } else { deep };
        assert!((depth - expected).abs() < 0.02 * MU * step * v, "{scheme:?}: {depth:e} m instead of {expected:e} m");
    }
}

/// TAMSI and the coupled scheme solve the same equations, but for the regularization.
///
/// Tolerance: the coupled scheme ends when the bounds repeat to 1e-6; both laws of regularization differ by
/// (v_s/|v|)^2 below any slip in this test.
#[test]
fn tamsi_and_the_coupled_scheme_have_the_same_solution() {
    let mut ends = Vec::new();
    for scheme in [ContactScheme::Tamsi, ContactScheme::Coupled] {
        let (scene, state, body) = sliding_box(5e-5, 0.8);
        let mut simulation = Simulation::new(scene, state, with_scheme(scheme, 2e-3)).expect("a simulation");
        for _ in 0..20 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        ends.push(simulation.data().V_WB[body]);
    }
    let difference = (ends[0].v - ends[1].v).norm();
    assert!(ends[0].v.x > 0.5 && difference < 2e-5, "{ends:?}: {difference:e}");
}

/// A step of TAMSI that does not converge is an error that names the scheme, and the state stays.
#[test]
fn a_step_of_tamsi_without_a_solution_is_an_error() {
    let (scene, state, _) = sliding_box(5e-5, 0.8);
    let mut settings = with_scheme(ContactScheme::Tamsi, 1e-3);
    let Stepping::Dynamic(options) = &mut settings.stepping else { panic!("dynamic") };
    options.solver = NewtonSettings { iterations_max: 0, ..options.solver };
    let mut simulation = Simulation::new(scene, state.clone(), settings).expect("a simulation");
    let error = simulation.step(&JointCommand::default()).expect_err("no iteration does not suffice");
    assert!(matches!(error, StepError::Scheme { scheme: "tamsi", .. }), "{error}");
    assert!(error.to_string().contains("scheme: lagged"), "{error}");
    assert_eq!((simulation.state(), simulation.step_count()), (&state, 0));
}

/// Settings and materials without a meaning in a scheme are refused.
#[test]
fn settings_without_a_meaning_in_a_scheme_are_refused() {
    let (scene, state, _) = sliding_box(1e-5, 0.0);
    let refused = |change: &dyn Fn(&mut StepSettings, &mut DynamicStepping), scheme| {
        let mut settings = with_scheme(scheme, 1e-3);
        let Stepping::Dynamic(mut options) = settings.stepping else { panic!("dynamic") };
        change(&mut settings, &mut options);
        settings.stepping = Stepping::Dynamic(options);
        match Simulation::new(scene.clone(), state.clone(), settings) {
            Err(error @ SimulationError::Scheme { .. }) => error.to_string(),
            other => panic!("{scheme:?} is not refused: {other:?}"),
        }
    };
    for scheme in [ContactScheme::Similar, SAP, ContactScheme::Tamsi] {
        let message = refused(&|settings, _| settings.face_friction = FaceFriction::Spread, scheme);
        assert!(message.contains("face_friction: centroid"), "{message}");
    }
    let message = refused(&|_, options| options.dissipation = DissipationModel::HuntCrossley, SAP);
    assert!(message.contains("dissipation: linear"), "{message}");
    let message = refused(&|_, options| options.friction_compliance = 0.0, SAP);
    assert!(message.contains("friction_compliance: 0.001"), "{message}");
    let message = refused(&|_, options| options.friction_compliance = 1e-3, ContactScheme::Tamsi);
    assert!(message.contains("stiction_tolerance"), "{message}");

    let bouncing = ContactProperties { restitution: Some(0.5), ..compliant(1e6, 0.0, MU) };
    let moments = Vector3::new(1.0, 1.0, 1.0) * 1e-3;
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, state, _) = body_on_ground(Shape::Box { size: SIZE }, MASS, moments, &bouncing, gravity);
    let error = Simulation::new(scene, state, with_scheme(ContactScheme::Tamsi, 1e-3)).expect_err("restitution");
    assert!(error.to_string().contains("`restitution`"), "{error}");
}

/// A scene file with a scheme: the defaults of its other keys, and the keys that it excludes.
#[test]
fn scene_files_choose_a_scheme_and_its_defaults() {
    let folder = std::env::temp_dir().join(format!("isobar-schemes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let load = |text: &str| {
        let file = folder.join("scene.yaml");
        let scene = "models: [{ name: box, box: [0.1, 0.1, 0.1], mass: 1, free: { xyz: [0, 0, 0.05] } }]\nground: {}\n";
        std::fs::write(&file, format!("{scene}{text}\n")).expect("a file");
        scene_file::load(&file, &PackageMap::new())
    };
    for scheme in ContactScheme::ALL {
        let loaded = load(&format!("contact: {{ scheme: {} }}", scheme.name())).expect("a scene");
        assert_eq!(loaded.dynamic.scheme, scheme);
        let mut simulation = Simulation::new(loaded.scene, loaded.initial, loaded.settings).expect("a simulation");
        let report = simulation.step(&JointCommand::default()).expect("a step");
        assert!(report.solver_converged && report.faces > 0, "{scheme:?}: {report:?}");
    }
    let sap = load("contact: { scheme: sap, near_rigid: 1 }").expect("a scene").dynamic;
    assert_eq!((sap.scheme, sap.friction_compliance), (ContactScheme::Sap { near_rigid: 1.0 }, 1e-3));
    assert_eq!(load("").expect("a scene").dynamic.friction_bound, FrictionBound::Solved);
    for (text, way_out) in [
        ("contact: { scheme: tamsy }", "`tamsi`"),
        ("contact: { scheme: tamsi, friction_bound: solved }", "only `lagged` has it"),
        ("contact: { near_rigid: 1 }", "only `sap` has it"),
        ("contact: { scheme: similar, face_friction: spread }", "`lagged` and `coupled`"),
        ("contact: { scheme: sap, dissipation: hunt_crossley }", "`similar` and `tamsi`"),
        ("contact: { scheme: sap, friction_compliance: 0 }", "0.001"),
        ("contact: { scheme: tamsi, friction_compliance: 0.001 }", "`stiction_tolerance`"),
        ("stepping: quasistatic\ncontact: { scheme: tamsi }", "`stepping: dynamic`"),
        ("stepping: spook\ncontact: { scheme: lagged }", "`stepping: dynamic`"),
        ("stepping: spook\ncontact: { dissipation: linear }", "`stepping: dynamic` and `stepping: continuous` use it"),
        ("stepping: spook\ncontact: { friction_compliance: 0.001 }", "`stepping: dynamic` uses it"),
        ("stepping: quasistatic\ncontact: { friction_bound: lagged }", "`stepping: dynamic` uses it"),
        ("stepping: quasistatic\ncontact: { surfaces: start }", "`stepping: dynamic` uses it"),
        ("stepping: spook\nintegrator: implicit", "remove `integrator`"),
    ] {
        let error = load(text).expect_err(text);
        let mut chain = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            chain = format!("{chain}: {cause}");
            source = cause.source();
        }
        assert!(chain.contains(way_out), "{text}\n{chain}\nexpected: {way_out}");
    }
    std::fs::remove_dir_all(&folder).expect("to remove the folder");
}

/// A compliance of friction that is no number or below 0 is refused, in every scheme.
#[test]
fn friction_compliance_is_a_number_from_zero() {
    for scheme in ContactScheme::ALL {
        for wrong in [-1e-3, f64::NAN, f64::INFINITY] {
            let (scene, state, _) = sliding_box(1e-5, 0.5);
            let mut settings = with_scheme(scheme, 1e-3);
            if let Stepping::Dynamic(options) = &mut settings.stepping {
                options.friction_compliance = wrong;
            }
            assert!(Simulation::new(scene, state, settings).is_err(), "{scheme:?} with {wrong}");
        }
    }
}

/// A mode that does not come from the scene file: each setting that it does not use is named, with the modes
/// that use it.
#[test]
fn settings_without_effect_in_another_mode_are_named() {
    let folder = std::env::temp_dir().join(format!("isobar-unused-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("scene.yaml");
    let models = "models: [{ name: box, box: [0.1, 0.1, 0.1], mass: 1, free: { xyz: [0, 0, 0.1] } }]\nground: {}\n";
    let contact = "contact: { friction_bound: solved, dissipation: linear, faces: polygons, stiction_tolerance: 1e-5 }";
    std::fs::write(&file, format!("{models}{contact}\nintegrator: implicit\n")).expect("a file");
    let loaded = scene_file::load(&file, &PackageMap::new()).expect("a scene");
    std::fs::remove_dir_all(&folder).expect("to remove the folder");
    let modes = [
        (Stepping::Dynamic(loaded.dynamic), vec![]),
        (Stepping::Quasistatic(loaded.quasistatic), vec!["friction_bound", "dissipation", "integrator"]),
        (Stepping::Spook(loaded.spook), vec!["friction_bound", "dissipation", "integrator"]),
        (Stepping::Continuous(loaded.continuous), vec!["friction_bound", "faces", "integrator"]),
    ];
    for (stepping, expected) in modes {
        let unused = loaded.unused_settings(&stepping);
        let keys: Vec<&str> = unused.iter().map(|unused| unused.key).collect();
        assert_eq!(keys, expected, "{}", stepping.name());
        for unused in unused {
            let text = unused.to_string();
            assert!(text.contains(&format!("stepping: {}", stepping.name())) && text.contains("remove"), "{text}");
        }
    }
}
