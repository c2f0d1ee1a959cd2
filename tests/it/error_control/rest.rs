//! Bodies at rest with error control stay at rest.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{SpatialVelocity, Vector3};
use isobar::stepping::{JointCommand, Simulation};

use super::{EVERY_NS, settings};
use crate::worlds::{GRAVITY, at, body_on_ground, compliant};

/// Steps until the bodies have come to rest, and steps in which they are measured.
const STEPS: (u32, u32) = (1200, 300);
/// Error of the friction of a solve, as a fraction of its limit [-].
const FRICTION: f64 = 0.01;

/// A cube of 1 kg, rigid or soft, on level ground and on slopes of 0.5 and 0.9 of the friction angle.
///
/// The ground carries its weight: the residual of the solver, 1e-7, and a hundred times that for what is left
/// of the fall. It creeps by the regularization of friction alone, v_s x/sqrt(1 - x^2). Friction of a solve
/// may be wrong by 1 % of its limit, and the slope of this law is 1/(1 - x^2) of its value. The velocity
/// reported is at most twice that of the law, and within the solver's residual of g h on level ground. The
/// cube lies in the ground, by less than a step of 10 ms presses a rigid one in, g h^2/3900, or by its depth.
#[test]
fn cubes_at_rest_stay_at_rest() {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.5), ..ContactProperties::default() };
    let size = Vector3::repeat(0.1);
    let materials = [
        ("rigid", rigid, 2.6e-7),
        ("soft", compliant(1e5, 20.0, 0.5), 5e-4),
        ("stiff", compliant(1e8, 20.0, 0.5), 5e-7),
    ];
    for (name, properties, depth) in materials {
        for (load, tolerance) in [(0.0_f64, 1e-3), (0.0, 1e-5), (0.5, 1e-3), (0.5, 1e-4), (0.9, 1e-3)] {
            let angle = (0.5 * load).atan();
            let gravity = Vector3::new(angle.sin(), 0.0, -angle.cos()) * GRAVITY;
            let moments = Vector3::repeat(1.0 / 600.0);
            let (scene, mut state, body) = body_on_ground(Shape::Box { size }, 1.0, moments, &properties, gravity);
            scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.5 * size.z));
            let mut simulation =
                Simulation::new(scene, state, settings(EVERY_NS, Some(tolerance))).expect("a simulation");
            for _ in 0..STEPS.0 {
                simulation.step(&JointCommand::default()).expect("a step");
            }
            let (mut speed, mut force_error) = (0.0_f64, 0.0_f64);
            let before = simulation.data().X_WB[body].translation.vector;
            for _ in 0..STEPS.1 {
                simulation.step(&JointCommand::default()).expect("a step");
                speed = speed.max(simulation.data().V_WB[body].v.norm());
                let force = simulation.body_wrenches()[body].f.z / (GRAVITY * angle.cos());
                force_error = force_error.max((force - 1.0).abs());
            }
            let after = simulation.data().X_WB[body].translation.vector;
            let seconds = f64::from(STEPS.1) * EVERY_NS as f64 * 1e-9;
            let (creep, law) = ((after.x - before.x) / seconds, 1e-6 * load / (1.0 - load * load).sqrt());
            let case = format!("{name}, load {load}, tolerance {tolerance:e}");
            let residual = 1e-7 * GRAVITY * EVERY_NS as f64 * 1e-9;
            println!("{case}: force {force_error:.1e}, creep {creep:.3e} of {law:.3e}, speed {speed:.3e}, {}", after.z);
            assert!(force_error < 1e-5, "{case}: the force is wrong by {force_error:e} of the weight");
            assert!((creep - law).abs() <= FRICTION / (1.0 - load * load) * law + residual, "{case}: {creep:e} m/s");
            assert!(speed <= 2.0 * law + residual, "{case}: {speed:e} m/s reported, {law:e} m/s by the law");
            let height = after.z - 0.5 * size.z;
            assert!(-depth <= height && height < 0.0, "{case}: {height:e} m over the ground");
        }
    }
}

/// A box at rest on a spring-borne platform, on which a wheel spins that touches nothing: the wheel's motion
/// does not move the box. The platform carries it to the solver's tolerance, as above.
#[test]
fn a_box_rests_on_a_platform_with_a_spinning_wheel() {
    let folder = std::env::temp_dir().join(format!("isobar-platform-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let inertial = |mass: f64, moment: f64| {
        format!(
            "<inertial><mass value='{mass}'/><inertia ixx='{moment}' iyy='{moment}' izz='{moment}' ixy='0' ixz='0' iyz='0'/></inertial>"
        )
    };
    let (lift, wheel) = (inertial(1.0, 1e-2), inertial(0.1, 1e-3));
    let urdf = format!(
        "<robot name='r'><link name='base'/><link name='lift'>{lift}<collision><geometry><box size='0.3 0.3 0.02'/></geometry></collision></link>
        <link name='wheel'>{wheel}</link>
        <joint name='z' type='prismatic'><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1e6' velocity='1e3'/>
        <parent link='base'/><child link='lift'/></joint>
        <joint name='w' type='continuous'><axis xyz='0 0 1'/><parent link='lift'/><child link='wheel'/></joint></robot>"
    );
    std::fs::write(folder.join("lift.urdf"), urdf).expect("a file");
    let scene = "step: { tolerance: 1e-3, every: 0.05 }
models:
  - { name: m, urdf: lift.urdf, weld: { xyz: [0, 0, 1] }, joint_velocities: { w: 20 },
      springs: { z: { stiffness: 500 } }, actuators: { z: { stiffness: 0, damping: 60 } } }
  - { name: box, box: [0.1, 0.1, 0.1], mass: 5, free: { xyz: [0, 0, 1.0599] } }
materials: [{ compliant: false, mu_dynamic: 0.5 }]
";
    let loaded = scene_file::load_str(scene, &folder.join("scene.yaml"), &PackageMap::new()).expect("a scene");
    std::fs::remove_dir_all(&folder).expect("to remove the folder");
    let body = loaded.scene.model().body("box").expect("the box");
    let mut simulation = loaded.simulation().expect("a simulation");
    let command = JointCommand::new(&loaded.scene);
    for step in 0..200 {
        simulation.step(&command).expect("a step");
        if step >= 150 {
            let (speed, force) = (simulation.data().V_WB[body].v.norm(), simulation.body_wrenches()[body].f.z);
            assert!(speed < 1e-7 && (force / (5.0 * GRAVITY) - 1.0).abs() < 1e-5, "{speed:e} m/s, {force} N");
        }
    }
}

/// A rigid cube that slides on level ground stays on it: the ground carries its weight, and its height does
/// not change. Its friction slows it by mu g.
///
/// The force is exact to a hundred times the residual of the solver, as above. The height may change by the
/// tilt that friction gives the cube in a part, and by the tolerance times the part of the run in which it
/// slides.
#[test]
fn a_cube_that_slides_stays_on_the_ground() {
    let rigid = ContactProperties { compliant: Some(false), mu_dynamic: Some(0.2), ..ContactProperties::default() };
    let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
    let shape = Shape::Box { size: Vector3::new(0.2, 0.2, 0.02) };
    let (scene, mut state, body) = body_on_ground(shape, 1.0, Vector3::new(3.4e-3, 3.4e-3, 6.7e-3), &rigid, gravity);
    scene.model().set_free_body_pose(&mut state, body, &at(0.0, 0.0, 0.01));
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(1.0, 0.0, 0.0));
    scene.model().set_free_body_velocity(&mut state, body, &V);
    let mut simulation = Simulation::new(scene, state, settings(EVERY_NS, Some(1e-4))).expect("a simulation");
    let (mut height, mut rise, mut force_error) = (0.0_f64, 0.0_f64, 0.0_f64);
    for step in 0..40 {
        simulation.step(&JointCommand::default()).expect("a step");
        if step >= 10 {
            height = height.max((simulation.data().X_WB[body].translation.z - 0.01).abs());
            rise = rise.max(simulation.data().V_WB[body].v.z.abs());
            force_error = force_error.max((simulation.body_wrenches()[body].f.z / GRAVITY - 1.0).abs());
        }
    }
    let slid = simulation.data().V_WB[body].v.x;
    println!("height {height:.2e} m, rise {rise:.2e} m/s, force {force_error:.2e}, speed {slid}");
    assert!(force_error < 1e-5 && height < 1e-6 && rise < 1e-6, "{height:e} m, {rise:e} m/s, {force_error:e}");
    assert!((slid - (1.0 - 0.2 * GRAVITY * 0.4)).abs() < 1e-3, "{slid} m/s");
}
