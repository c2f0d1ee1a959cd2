//! config/planar_gripper.yaml against the reference trajectory of the convex program (10) of [Pang & Tedrake
//! 2021].

use std::path::Path;

use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::Vector3;
use isobar::solvers::quasistatic::{Engine, FrictionCone};
use isobar::stepping::{ContactPatch, JointCommand, Simulation, Snapshot, Stepping};

use crate::golden;

fn load() -> LoadedScene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/planar_gripper.yaml");
    scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads")
}

/// The force on `body` of its contact with `other` [N].
fn force(loaded: &LoadedScene, snapshot: &Snapshot, body: &str, other: &str) -> Vector3 {
    let (body, other) = (loaded.scene.body(body).expect("a body"), loaded.scene.body(other).expect("a body"));
    let of = |patch: &ContactPatch| match (patch.body_A, patch.body_B) {
        (a, b) if (a, b) == (other, body) => patch.F_BC_W.f,
        (a, b) if (a, b) == (body, other) => -patch.F_BC_W.f,
        _ => Vector3::zeros(),
    };
    snapshot.contact_patches().iter().map(of).sum()
}

/// Positions and c_n of all contacts, and the sum of the fingers' friction, which are unique; c_f of each
/// finger is not. The interior point errs by some 1e-8 m a step, and the errors of 35 steps add up.
fn agrees(engine: Engine, friction: FrictionCone, tolerance_m: f64, tolerance_N: f64) {
    let Some(golden) = golden::json("quasistatic/planar_gripper_qp_tstop0.23_quasistatic.json") else { return };
    let loaded = load();
    let mut settings = loaded.settings;
    let Stepping::Quasistatic(options) = &mut settings.stepping else { panic!("the scene is quasistatic") };
    (options.solver.engine, options.solver.friction) = (engine, friction);
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), settings).expect("a simulation");
    let mut command = JointCommand::new(&loaded.scene);
    let mut snapshot = Snapshot::default();
    let (mut worst_m, mut worst_N) = (0.0_f64, 0.0_f64);
    for step in golden["steps"].as_array().expect("steps") {
        loaded.commands.fill(simulation.time_ns(), &mut command);
        let report = simulation.step(&command).expect("a step");
        assert!(report.solver_converged);
        simulation.snapshot_into(&mut snapshot);
        let q = golden::numbers(&step["q_after"]);
        let expected = [q[0], q[1] - 0.1, q[2], q[3], q[4]]; // the sphere's height counts from its rest
        for (name, expected) in ["sphere_x", "sphere_z", "left_x", "right_x", "carriage_z"].iter().zip(expected) {
            let joint = loaded.scene.joint(name).expect("a joint");
            worst_m = worst_m.max((snapshot.joint_position[joint] - expected).abs());
        }
        let c_n = golden::numbers(&step["c_n"]);
        let of = |other| force(&loaded, &snapshot, "sphere", other);
        let (left, right, ground) = (of("left_finger"), of("right_finger"), of("world"));
        for (normal, expected) in [left.x, -right.x, ground.z].iter().zip(c_n) {
            worst_N = worst_N.max((normal - expected).abs());
        }
        let mean = step["c_f12_mean"].as_f64().expect("a number");
        worst_N = worst_N.max(0.5 * (left.z + right.z - 2.0 * mean).abs());
    }
    println!("{engine:?}, {friction:?}: {worst_m:.1e} m, {worst_N:.1e} N");
    assert!(worst_m <= tolerance_m && worst_N <= tolerance_N, "{worst_m} m, {worst_N} N");
}

#[test]
fn the_planar_gripper_is_that_of_the_paper_with_cones() {
    agrees(Engine::Cone, FrictionCone::Exact, 1e-8, 1e-5);
    agrees(Engine::Clarabel, FrictionCone::Exact, 5e-7, 5e-4);
}

/// Four rays have the paper's two in the plane of the motion.
#[test]
fn the_planar_gripper_is_that_of_the_paper_with_pyramids() {
    agrees(Engine::Cone, FrictionCone::Pyramid { rays: 4 }, 1e-8, 1e-5);
    agrees(Engine::Clarabel, FrictionCone::Pyramid { rays: 4 }, 5e-7, 5e-4);
}
