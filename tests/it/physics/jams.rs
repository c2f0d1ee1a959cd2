//! Rigid bodies that are wedged: what pushes them apart gives them no energy.

use isobar::contact::{ContactProperties, NEAR_RIGID_BETA, RECOVERY_SPEED_MAX};
use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, Snapshot, StepSettings};

use crate::worlds::at;

/// A rigid cube of 0.1 m and 1 kg between two walls that are nearer to each other by 4 mm, so that both push
/// it back and none can move it.
fn wedged() -> (Simulation, JointCommand, BodyIndex) {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.0), ..ContactProperties::default() };
    let mut builder = SceneBuilder::new();
    let side = Shape::Box { size: Vector3::new(0.1, 0.3, 0.3) };
    for x in [-0.098, 0.098] {
        builder.add_geometry(BodyIndex::WORLD, "wall", at(x, 0.0, 0.0), side.clone(), &rigid).unwrap();
    }
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(Matrix3::identity() * (1.0 / 600.0)));
    let cube = builder.add_body("cube", inertia);
    let shape = Shape::Box { size: Vector3::repeat(0.1) };
    builder.add_geometry(cube, "cube", at(0.0, 0.0, 0.0), shape, &rigid).unwrap();
    let scene = std::sync::Arc::new(builder.build(Vector3::zeros()).unwrap());
    let initial = scene.model().default_state();
    let command = JointCommand::new(&scene);
    (Simulation::new(scene, initial, StepSettings::default()).unwrap(), command, cube)
}

/// Law: an overlap that no motion can end is not a load. The points of a wall together push with a hundredth
/// of the force with which one near-rigid point parts the bodies at the recovery speed in one step, k v
/// dt/100 with k = m (2 pi/(beta dt))^2, at any time. The force of the whole depth of 2 mm, to which it
/// could grow from step to step, is 2000 times as large.
#[test]
fn bodies_that_cannot_part_store_no_more_force_with_each_step() {
    let (mut simulation, command, cube) = wedged();
    let dt = simulation.settings().step();
    // The effective mass of a corner is at most that of the cube, 1 kg
    let most = 1e-2 * (2.0 * std::f64::consts::PI / (NEAR_RIGID_BETA * dt)).powi(2) * RECOVERY_SPEED_MAX * dt;
    let mut snapshot = Snapshot::default();
    for _ in 0..100 {
        simulation.step(&command).unwrap();
        simulation.snapshot_into(&mut snapshot);
        for patch in snapshot.contact_patches() {
            let force = patch.F_BC_W.f.norm();
            assert!(force < 1.01 * most, "t = {}: {force:.3e} N, and at most {most:.3e}", simulation.time());
        }
        assert!(snapshot.X_WB[cube].translation.vector.norm() < 1e-9);
    }
}

/// Law: a wedged cube that is pulled out along the walls does not leave faster than it was pulled: the walls
/// have no friction, and the energy that they store must not come back as speed. At most one recovery is
/// left, at 0.1 m/s across.
#[test]
fn a_body_that_leaves_its_wedge_gains_no_energy() {
    let (mut simulation, command, cube) = wedged();
    let mut state = simulation.state().clone();
    state.v[5] = 0.5;
    simulation.set_state(state).unwrap();
    let mut snapshot = Snapshot::default();
    let most = 0.5 * (0.5_f64.powi(2) + 2.0 * RECOVERY_SPEED_MAX.powi(2));
    for _ in 0..800 {
        simulation.step(&command).unwrap();
        simulation.snapshot_into(&mut snapshot);
        let kinetic = snapshot.energy.kinetic;
        assert!(kinetic < most, "t = {}: {kinetic} J, and at most {most}", simulation.time());
    }
    assert!(snapshot.X_WB[cube].translation.z > 0.3, "the cube has left the walls");
}

/// Real input: a passive humanoid on a fixed base, whose forearm falls on its hip and is wedged between rigid
/// meshes, as both hands are at their wrists. Its energy may only fall, but for recoveries: each takes at
/// most 0.5 m v^2 of an arm of some kilograms at 0.1 m/s. It was seen to rise by 0.11 J in all.
///
/// Regression: recoveries along normals that joints nearly block gave 33 MN, and 20 J in some steps.
#[test]
fn a_wedged_arm_of_a_humanoid_gains_no_energy() {
    let Some(folder) = crate::golden::robots_of_others() else { return };
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &folder);
    let file = folder.join("robots/romeo_description/urdf/romeo_small.urdf");
    let text = format!("models: [{{ name: r, urdf: '{}', weld: {{ xyz: [0, 0, 1.2] }} }}]\n", file.display());
    let loaded = scene_file::load_str(&text, &folder.join("scene.yaml"), &packages).unwrap();
    let (mut simulation, command) = (loaded.simulation().unwrap(), JointCommand::new(&loaded.scene));
    let mut snapshot = Snapshot::default();
    let mut least = f64::INFINITY;
    for _ in 0..400 {
        simulation.step(&command).unwrap();
        simulation.snapshot_into(&mut snapshot);
        let energy = snapshot.energy.kinetic + snapshot.energy.potential;
        least = least.min(energy);
        assert!(energy < least + 0.2, "t = {}: {energy} J after {least} J", simulation.time());
    }
}
