//! Scenes that are too large for the memory of a step.

use std::path::Path;
use std::sync::Arc;

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{DynamicDerivatives, Simulation, SimulationError, StepSettings};

fn inertia() -> SpatialInertia {
    SpatialInertia::from_central(1.0, &Vector3::zeros(), &Matrix3::identity())
}

fn simulation(builder: SceneBuilder, settings: StepSettings) -> Result<Simulation, SimulationError> {
    let scene = builder.build(Vector3::zeros()).expect("a scene");
    let state = scene.model().default_state();
    Simulation::new(Arc::new(scene), state, settings)
}

/// A chain of more joints than a model may have is refused, however many models it comes from.
#[test]
fn a_tree_of_too_many_joints_is_refused() {
    let mut builder = SceneBuilder::new();
    let mut parent = BodyIndex::WORLD;
    for number in 0..3001 {
        let child = builder.add_body(&format!("link_{number}"), inertia());
        let joint = JointSpec::new(&format!("joint_{number}"), parent, child, JointKind::Prismatic);
        builder.add_joint(joint).expect("a joint");
        parent = child;
    }
    let refused = simulation(builder, StepSettings::default()).map(|_| ()).expect_err("too many joints").to_string();
    assert!(refused.contains("`link_0`") && refused.contains("3001 degrees of freedom; at most 3000"), "{refused}");
}

/// Copies are counted before all of them are made.
#[test]
fn too_many_copies_are_refused_early() {
    let model = |name: &str| {
        let copies = "grid: { count: [2000, 1, 1], spacing: [0.3, 0.3, 0.3] }";
        format!("  - {{ name: {name}, sphere: 0.1, mass: 1, free: {{}}, {copies} }}\n")
    };
    let scene = format!("models:\n{}", ["a", "b", "c"].map(model).concat());
    let refused = scene_file::load_str(&scene, Path::new("test.yaml"), &PackageMap::new()).map(|_| ());
    let refused = refused.expect_err("too many").to_string();
    assert!(refused.contains("4000 models; at most 2500"), "{refused}");
}

/// Bodies that are all at one place have more contacts than there is memory for: 776 bodies have 300,700
/// pairs.
#[test]
fn too_many_bodies_at_one_place_are_refused() {
    let load = |spacing: f64| {
        let copies = format!("grid: {{ count: [776, 1, 1], spacing: [{spacing}, 0, 0] }}");
        let scene = format!("models:\n  - {{ name: ball, sphere: 0.1, mass: 1, free: {{}}, {copies} }}\n");
        scene_file::load_str(&scene, Path::new("test.yaml"), &PackageMap::new()).map(|_| ())
    };
    let refused = load(0.0).expect_err("too many").to_string();
    assert!(refused.contains("300700 pairs") && refused.contains("and 775 others; at most 300000"), "{refused}");
    assert!(refused.starts_with("test.yaml:2:") && refused.contains("`spacing`"), "{refused}");
    assert!(load(0.3).is_ok());
}

/// Derivatives have dense matrices.
#[test]
fn derivatives_of_too_large_scenes_are_refused() {
    let mut builder = SceneBuilder::new();
    for number in 0..501 {
        builder.add_body(&format!("body_{number}"), inertia());
    }
    let simulation = simulation(builder, StepSettings::default()).expect("a simulation");
    let refused = DynamicDerivatives::new(&simulation).map(|_| ()).expect_err("too large").to_string();
    assert!(refused.contains("3006 degrees of freedom; derivatives are of at most 3000"), "{refused}");
}

/// A number of threads that no computer has is refused.
#[test]
fn too_many_threads_are_refused() {
    for (threads, is_refused) in [(256, false), (257, true), (usize::MAX, true)] {
        let made = simulation(SceneBuilder::new(), StepSettings { threads, ..StepSettings::default() });
        assert_eq!(matches!(made, Err(SimulationError::Threads { .. })), is_refused, "{threads}");
    }
}
