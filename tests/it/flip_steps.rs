//! Dynamic steps of the pancake flip against Drake's: arm, fingers, spatula and pancake with all their
//! contact surfaces at once.

use std::path::Path;

use isobar::contact::FaceFriction;
use isobar::geometry::FaceRepresentation;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::{RigidTransform, SpatialVelocity, Vector3};
use isobar::multibody::State;
use isobar::stepping::{
    ContactSurfaces, DynamicStepping, FrictionBound, Integrator, JointCommand, JointTarget, Simulation, StepSettings,
    Stepping,
};
use nalgebra::{Quaternion, UnitQuaternion};
use serde_json::Value;

use crate::golden;

/// Largest difference of a velocity [m/s], [rad/s]. Drake's solver ends within 1e-6 of the momenta; speeds in
/// the run are of 0.2.
const DIFFERENCE_MAX: f64 = 5e-6;

/// The scene; its actuators pass efforts on and do nothing else.
fn passive_scene() -> LoadedScene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/pancake_flip.yaml");
    let text = std::fs::read_to_string(&file).expect("the file");
    let compensated = "    gravity_compensation: true\n";
    assert!(text.contains(compensated));
    let loaded = scene_file::load_str(&text.replace(compensated, ""), &file, &PackageMap::new()).expect("a scene");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded
}

fn number(values: &Value, name: &str) -> f64 {
    values[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {values}"))
}

fn pose(value: &Value) -> RigidTransform {
    let [w, x, y, z, px, py, pz] = golden::numbers(value)[..] else { panic!("no pose: {value}") };
    let rotation = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
    RigidTransform::from_parts(Vector3::new(px, py, pz).into(), rotation.into())
}

fn spatial_velocity(value: &Value) -> SpatialVelocity {
    let [wx, wy, wz, vx, vy, vz] = golden::numbers(value)[..] else { panic!("no velocity: {value}") };
    SpatialVelocity::new(Vector3::new(wx, wy, wz), Vector3::new(vx, vy, vz))
}

/// The state with these positions, poses and velocities.
fn state(loaded: &LoadedScene, step: &Value) -> State {
    let (scene, model) = (&loaded.scene, loaded.scene.model());
    let mut state = loaded.initial.clone();
    for (joint, name) in scene.joints().iter().zip(scene.joint_names()) {
        let joint = &model.joints()[*joint];
        state.q[joint.q_start] = number(&step["joints"], name);
        state.v[joint.v_start] = number(&step["velocities"]["joints"], name);
    }
    for (name, value) in step["poses"].as_object().expect("poses") {
        let body = model.body(name).expect("a body");
        model.set_free_body_pose(&mut state, body, &pose(value));
        let V = spatial_velocity(&step["velocities"]["bodies"][name]);
        model.set_free_body_velocity(&mut state, body, &V);
    }
    state
}

/// Largest difference between the velocities and the reference's.
fn difference(simulation: &Simulation, next: &Value) -> f64 {
    let scene = simulation.scene();
    let mut largest = 0.0_f64;
    for (joint, name) in scene.joints().iter().zip(scene.joint_names()) {
        let v = scene.model().joints()[*joint].velocity(&simulation.state().v).expect("one degree of freedom");
        largest = largest.max((v - number(&next["joints"], name)).abs());
    }
    for (name, value) in next["bodies"].as_object().expect("bodies") {
        let V = simulation.data().V_WB[scene.model().body(name).expect("a body")];
        let expected = spatial_velocity(value);
        largest = largest.max((V.w - expected.w).amax()).max((V.v - expected.v).amax());
    }
    largest
}

/// Oracle: Drake 1.51, from the same states, with the same efforts. Polygons and triangles differ by 1e-3.
#[test]
fn steps_of_the_flip_are_the_references() {
    let Some(golden) = golden::json("pancake_flip/steps.json") else { return };
    let loaded = passive_scene();
    let mut compared = 0;
    for (faces, kind) in [(FaceRepresentation::Polygon, "polygon"), (FaceRepresentation::TriangleFan, "triangle")] {
        let dynamic = DynamicStepping {
            integrator: Integrator::SemiImplicit,
            friction_bound: FrictionBound::Lagged,
            surfaces: ContactSurfaces::Start,
            ..loaded.dynamic
        };
        let settings = StepSettings {
            faces,
            face_friction: FaceFriction::Centroid,
            stepping: Stepping::Dynamic(dynamic),
            ..loaded.settings
        };
        let mut simulation =
            Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).expect("a simulation");
        for step in golden["steps"].as_array().expect("steps") {
            let targets = loaded.scene.joint_names().iter().map(|name| {
                let effort = Some(number(&step["efforts"], name));
                JointTarget { effort, ..JointTarget::default() }
            });
            let command = targets.collect::<JointCommand>();
            simulation.set_state(state(&loaded, step)).expect("a state");
            simulation.step(&command).expect("a step");
            let off = difference(&simulation, &step["next"][kind]);
            assert!(off < DIFFERENCE_MAX, "{kind} at {} s, {}: {off:.1e}", step["time"], step["keyframe"]);
            compared += 1;
        }
    }
    assert!(compared >= 50, "{compared}");
}

/// A comparison in a process of its own, with an empty folder of references.
#[test]
fn a_comparison_without_its_data_fails_where_nothing_may_be_skipped() {
    let empty = std::env::temp_dir().join(format!("isobar_no_references_{}", std::process::id()));
    std::fs::create_dir_all(&empty).expect("a folder");
    let compare = |required: &str| {
        std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "flip_steps::steps_of_the_flip_are_the_references"])
            .env("ISOBAR_ORACLE", &empty)
            .env("ISOBAR_REQUIRE_ALL", required)
            .output()
            .expect("the comparison")
    };
    for (required, passes) in [("", true), ("0", true), ("1", false)] {
        let output = compare(required);
        let lines = [output.stdout.as_slice(), output.stderr.as_slice()].map(String::from_utf8_lossy).join("\n");
        assert_eq!(output.status.success(), passes, "{required}: {lines}");
        assert!(lines.contains("running 1 test") && lines.contains("skipped: "), "{required}: {lines}");
    }
    let _ = std::fs::remove_dir(&empty);
}
