//! Bits, checkpoints, times and refusals.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::{package::PackageMap, scene_file};
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{Checkpoint, JointCommand, Simulation, SimulationError, StepError, Stepping};

use super::continuous;
use crate::worlds::{GRAVITY, at, body_on_ground, compliant};

fn bits(simulation: &Simulation) -> Vec<u64> {
    let state = simulation.state();
    state.q.iter().chain(&state.v).map(|x| x.to_bits()).collect()
}

/// Two runs have the same bits, and so has one that continues from a checkpoint, from a simulation that has
/// been elsewhere.
#[test]
fn runs_repeat_their_bits_and_continue_from_checkpoints() {
    let properties = ContactProperties { mesh_resolution_hint: Some(0.05), ..compliant(1e6, 10.0, 0.5) };
    let shape = Shape::Box { size: Vector3::new(0.1, 0.06, 0.04) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(shape, 0.5, Vector3::repeat(5e-4), &properties, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.0201));
    let V = SpatialVelocity::new(Vector3::new(0.5, 0.0, 1.0), Vector3::new(0.2, 0.0, -0.1));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let settings = continuous(0.004, 1e-6);
    let make = || Simulation::new(scene.clone(), state.clone(), settings).expect("a simulation");
    let step = |simulation: &mut Simulation, steps: u32| {
        for _ in 0..steps {
            simulation.step(&JointCommand::default()).expect("a step");
        }
    };
    let (mut one, mut other) = (make(), make());
    step(&mut one, 5);
    let saved = one.save().to_bytes();
    step(&mut one, 5);
    step(&mut other, 3);
    other.restore(&Checkpoint::from_bytes(&saved).expect("a checkpoint")).expect("the same scene");
    step(&mut other, 5);
    assert_eq!(bits(&one), bits(&other));
    assert_eq!(one.time_ns(), 40_000_000);
    let report = one.report();
    assert!(report.parts > 0 && report.solves >= report.parts && report.faces > 0, "{report:?}");
}

/// Rigid geometries that touch, and loop closures, are refused by name with a way out.
#[test]
fn rigid_contact_is_refused_by_name() {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.5), ..ContactProperties::default() };
    let shape = Shape::Box { size: Vector3::repeat(0.1) };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let (scene, mut state, body) = body_on_ground(shape, 1.0, Vector3::repeat(1e-3), &rigid, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.051));
    let mut simulation = Simulation::new(scene, state, continuous(0.01, 1e-6)).expect("a simulation");
    let refused = (0..10).find_map(|_| simulation.step(&JointCommand::default()).err()).expect("contact");
    assert!(matches!(refused, StepError::RigidContact { .. }), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("ground'") && text.contains("compliant") && text.contains("stepping: dynamic"), "{text}");
}

/// A thin rigid plate in free flight towards a thin rigid wall: its parts would be as long as a step of the
/// simulation, 20 mm. The contact is found before the plate is beyond the middle of the wall.
#[test]
fn rigid_bodies_do_not_pass_through_each_other_unseen() {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.5), ..ContactProperties::default() };
    let size = Vector3::new(0.1, 0.1, 0.002);
    let mut builder = SceneBuilder::new();
    let here = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "wall", here, Shape::Box { size }, &rigid).expect("a wall");
    let plate =
        builder.add_body("plate", SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-4)));
    builder.add_geometry(plate, "plate", here, Shape::Box { size }, &rigid).expect("a plate");
    let scene = std::sync::Arc::new(builder.build(Vector3::zeros()).expect("a scene"));
    for height in [0.05, 0.061, 0.0737] {
        let mut state = scene.model().default_state();
        scene.model().set_free_body_pose(&mut state, plate, &at(0.0, 0.0, height));
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -2.0));
        scene.model().set_free_body_velocity(&mut state, plate, &V);
        let mut simulation = Simulation::new(scene.clone(), state, continuous(0.01, 1e-6)).expect("a simulation");
        let refused = (0..10).find_map(|_| simulation.step(&JointCommand::default()).err());
        let Some(StepError::RigidContact { time, .. }) = refused else { panic!("from {height} m: {refused:?}") };
        let gone = height - 2.0 * time;
        assert!((-1e-3..=2e-3).contains(&gone), "from {height} m: found at {gone} m");
    }
}

/// A ball falls beside a flat rigid mesh, which has no inside: parts are limited by the size of the ball
/// only.
#[test]
fn flat_rigid_meshes_do_not_shorten_parts_to_nothing() {
    let folder = std::env::temp_dir().join(format!("isobar_flat_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mesh = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n";
    std::fs::write(folder.join("ramp.obj"), mesh).expect("a file");
    let scene = "step: 0.01\nstepping: continuous\nmodels:
  - { name: ramp, mesh: ramp.obj, weld: { rpy: [0, 0.6, 0] }, material: { compliant: false } }
  - { name: ball, sphere: 0.05, mass: 1, free: { xyz: [0.3, 0, 0.4] }, material: { compliant: false } }\n";
    let loaded = scene_file::load_str(scene, &folder.join("scene.yaml"), &PackageMap::new()).expect("a scene");
    std::fs::remove_dir_all(&folder).expect("to remove the folder");
    let mut simulation = loaded.simulation().expect("a simulation");
    for _ in 0..10 {
        let report = simulation.step(&JointCommand::new(&loaded.scene)).expect("a step");
        assert!(report.parts < 10, "{report:?}");
    }
}

/// A tolerance that is not positive is refused.
#[test]
fn the_tolerance_must_be_positive() {
    let shape = Shape::Sphere { radius: 0.1 };
    let (scene, state, _) =
        body_on_ground(shape, 1.0, Vector3::repeat(1e-3), &compliant(1e6, 0.0, 0.5), Vector3::zeros());
    let refused = Simulation::new(scene, state, continuous(0.01, 0.0)).expect_err("a tolerance of 0");
    assert!(matches!(refused, SimulationError::Setting { .. }), "{refused}");
}

const SCENE: &str = "models:\n  - { name: gripper, urdf: ../urdf/wsg50_bubble_gripper.urdf, weld: {} }\n";

fn load(extra: &str) -> Result<scene_file::LoadedScene, String> {
    let folder = std::env::temp_dir().join(format!("isobar_continuous_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let urdf = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("urdf/wsg50_bubble_gripper.urdf");
    let text = SCENE.replace("../urdf/wsg50_bubble_gripper.urdf", &urdf.to_string_lossy());
    let number = extra.bytes().fold(7u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let file = folder.join(format!("{number}.yaml"));
    std::fs::write(&file, format!("{text}{extra}\n")).expect("a file");
    let loaded = scene_file::load(&file, &PackageMap::new()).map_err(|error| error.to_string());
    std::fs::remove_file(&file).expect("the file");
    loaded
}

/// `stepping: continuous` in scene files: the tolerance and the interval of `step`, the law of dissipation;
/// keys that only discrete steps have are refused.
#[test]
fn scene_files_state_the_continuous_model() {
    let plain = load("stepping: continuous").expect("a scene");
    let Stepping::Continuous(options) = plain.settings.stepping else { panic!("{:?}", plain.settings) };
    assert_eq!((options.tolerance, plain.settings.step_ns), (1e-6, 10_000_000));
    let controlled = load("stepping: continuous\nstep: { tolerance: 1.0e-8, every: 0.002 }").expect("a scene");
    let Stepping::Continuous(options) = controlled.settings.stepping else { panic!("{:?}", controlled.settings) };
    assert_eq!((options.tolerance, controlled.settings.step_ns), (1e-8, 2_000_000));
    let fixed = load("stepping: continuous\nstep: 0.005\ncontact: { dissipation: linear, faces: triangles }");
    assert_eq!(fixed.expect("a scene").settings.step_ns, 5_000_000);
    for (extra, named) in [
        ("integrator: implicit", "integrator"),
        ("contact: { scheme: tamsi }", "scheme"),
        ("contact: { surfaces: start }", "surfaces"),
        ("contact: { friction_bound: lagged }", "friction_bound"),
        ("contact: { friction_compliance: 0.001 }", "friction_compliance"),
        ("contact: { faces: polygons }", "triangles"),
        ("contact: { face_friction: spread }", "centroid"),
    ] {
        let refused = load(&format!("stepping: continuous\n{extra}")).expect_err(extra);
        assert!(refused.contains(named) && refused.contains("remove"), "{extra}: {refused}");
    }
}
