//! Coulomb's law of rigid contact that slides.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{Simulation, Snapshot, UnactuatedInertia};

use super::{INERTIAS, STEPS, add_box, add_finger, add_ground, coulomb, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at};
use isobar::stepping::StepSettings;

/// Steps with Coulomb's law.
fn quasistatic(step: f64, inertia: UnactuatedInertia) -> StepSettings {
    coulomb(crate::worlds::quasistatic(step, inertia))
}

/// The slab of the planar pushes: mass [kg], friction on the floor and at the pusher [-], the pusher's radius
/// [m].
const SLAB: (f64, f64, f64, f64) = (0.837, 0.16, 0.25, 0.00475);

/// A push of the slab: start (y) of the contact on the face -x [m], direction [deg], and (x, y, yaw) [m, rad]
/// of the slab after 1.5, 2.5 and 5 s.
struct Push {
    y: f64,
    direction: f64,
    path: [(f64, [f64; 3]); 3],
}

/// The paths of minimum power over four equal supports: v minimises sum mu N_i |v_i| under the pusher's
/// motion, integrated with a step of 2.5 ms by a program of its own.
const PUSHES: [Push; 3] = [
    Push {
        y: 0.0,
        direction: 40.0,
        path: [
            (1.5, [0.011128, 0.002469, -0.065283]),
            (2.5, [0.018052, 0.003627, -0.113911]),
            (5.0, [0.033080, 0.005023, -0.243397]),
        ],
    },
    Push {
        y: -0.027,
        direction: 0.0,
        path: [
            (1.5, [0.012506, 0.003680, 0.087269]),
            (2.5, [0.020558, 0.006258, 0.149267]),
            (5.0, [0.039600, 0.012614, 0.317460]),
        ],
    },
    Push {
        y: -0.027,
        direction: -20.0,
        path: [
            (1.5, [0.010856, -0.000308, 0.111028]),
            (2.5, [0.017757, -0.000629, 0.187411]),
            (5.0, [0.033694, -0.001157, 0.378593]),
        ],
    },
];

/// A ball that moves in the plane, 0.5 mm above the floor so that it does not tilt the slab, and the slab.
fn slab(push: &Push, step: f64) -> (Simulation, BodyIndex) {
    let (mass, floor, pusher, radius) = SLAB;
    let mut builder = SceneBuilder::new();
    // Coefficients combine to the stated ones: 2 a b/(a + b).
    let slab = 0.2;
    let other = |mu: f64| mu * slab / (2.0 * slab - mu);
    add_ground(&mut builder, &rigid(other(floor)));
    let light = SpatialInertia::from_central(1e-3, &Vector3::zeros(), &(Matrix3::identity() * 1e-6));
    let cart = builder.add_body("cart", light);
    let start = at(-0.045 - radius, push.y, 5e-4);
    let along = JointSpec {
        axis_F: Vector3::x(),
        X_PF: start,
        ..JointSpec::new("along", BodyIndex::WORLD, cart, JointKind::Prismatic)
    };
    let joint = builder.add_joint(along).expect("a joint");
    let stiff = isobar::scene::Actuator { gravity_compensation: true, ..spring(1e6, f64::INFINITY) };
    builder.set_actuator(joint, stiff);
    let ball = builder.add_body("ball", light);
    let across = JointSpec { axis_F: Vector3::y(), ..JointSpec::new("across", cart, ball, JointKind::Prismatic) };
    let joint = builder.add_joint(across).expect("a joint");
    builder.set_actuator(joint, stiff);
    builder
        .add_geometry(ball, "ball", at(0.0, 0.0, 0.0), Shape::Sphere { radius }, &rigid(other(pusher)))
        .expect("a ball");
    builder.exclude_contact(BodyIndex::WORLD, ball);
    let body = add_box(&mut builder, "slab", Vector3::new(0.09, 0.09, 0.013), mass, &rigid(slab));
    let place = [(body, Vector3::new(0.0, 0.0, 0.0065))];
    let settings = quasistatic(step, UnactuatedInertia::None);
    (simulate(builder, Vector3::z() * -GRAVITY, settings, &place), body)
}

/// The reference pushes to 0.3 mm and 0.3 degrees, at steps of 0.1 and 0.01 s: slip at the pusher, turns of
/// 14 to 22 degrees. The error is of the order of h, and the pusher yields by a micrometre.
#[test]
fn a_pushed_slab_follows_the_path_of_minimum_power() {
    for (number, push) in PUSHES.iter().enumerate() {
        for step in [0.1, 0.01] {
            let (mut simulation, body) = slab(push, step);
            let (sin, cos) = push.direction.to_radians().sin_cos();
            for (until, [x, y, yaw]) in push.path {
                while simulation.time() < until - 1e-9 {
                    let reach = 0.01 * (simulation.time() + step);
                    simulation.step(&positions(&[reach * cos, reach * sin])).expect("a step");
                }
                let X_WB = simulation.data().X_WB[body];
                let p = X_WB.translation.vector;
                let turned = X_WB.rotation.euler_angles().2;
                let away = (p.x - x).hypot(p.y - y);
                assert!(away < 3e-4, "push {number}, h = {step}, t = {until}: {away} m beside the path");
                let error = (turned - yaw).abs().to_degrees();
                assert!(error < 0.3, "push {number}, h = {step}, t = {until}: {error} degrees");
            }
        }
    }
}

/// The points of `body` on the ground and their normal forces [N].
fn normals_on(simulation: &Simulation, body: BodyIndex) -> Vec<(Vector3, f64)> {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let on_ground = |patch: &&isobar::stepping::ContactPatch| {
        [patch.body_A, patch.body_B].contains(&BodyIndex::WORLD) && [patch.body_A, patch.body_B].contains(&body)
    };
    let patch = snapshot.contact_patches().iter().find(on_ground).expect("a patch");
    patch.faces.centroid_W.iter().copied().zip(patch.faces.force_B_W.iter().map(|f| f.z.abs())).collect()
}

/// A block that slides, straight or turning, stands on all four corners: each carries m g/4, more at the
/// front by the moment of the push, F z over two corners at a distance a.
#[test]
fn a_sliding_block_stands_on_all_corners() {
    let (mass, size) = (0.8, 0.1);
    for ((step, inertia), y) in
        STEPS.into_iter().flat_map(|h| INERTIAS.map(|i| (h, i))).zip([0.0, 0.02].into_iter().cycle())
    {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.4));
        let ball = (Shape::Sphere { radius: 0.01 }, &rigid(0.0));
        let place = (Vector3::new(-0.06, y, 0.02), Vector3::x());
        add_finger(&mut builder, "finger", place, JointLimits::NONE, spring(1e4, f64::INFINITY), ball);
        let body = add_box(&mut builder, "block", Vector3::repeat(size), mass, &rigid(0.4));
        let at = [(body, Vector3::new(0.0, 0.0, 0.5 * size))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &at);
        for count in 1..=12 {
            simulation.step(&positions(&[0.01 * step * f64::from(count)])).expect("a step");
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            let push = snapshot.joint_effort.as_slice()[0];
            let center = simulation.data().X_WB[body].translation.vector;
            let normals = normals_on(&simulation, body);
            assert_eq!(normals.len(), 4);
            let total: f64 = normals.iter().map(|(_, n)| n).sum();
            // Points yield by 20 nm in the first step, which the mass resists with m v/h.
            assert!((total - mass * GRAVITY).abs() < 1e-3, "{total} N");
            let most = 0.25 * mass * GRAVITY + push * 0.02 / (2.0 * size) + 0.1;
            let least = 0.25 * mass * GRAVITY - push * 0.02 / (2.0 * size) - 0.1;
            for (p, n) in &normals {
                assert!(
                    (least..most).contains(n),
                    "h = {step}, {inertia:?}, y = {y}, step {count}: {n} N of {least} to {most} at {:?}",
                    p - center
                );
            }
        }
    }
}

/// A grasp at 98 % of its capacity 2 mu N holds: N is the spring's force, and the box does not move.
#[test]
fn a_grasp_near_its_capacity_does_not_slip() {
    for (step, inertia) in STEPS.into_iter().flat_map(|step| INERTIAS.map(|inertia| (step, inertia))) {
        let mut builder = SceneBuilder::new();
        let pad = (Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) }, &rigid(0.5));
        for (name, x, axis) in [("left", -0.04, Vector3::x()), ("right", 0.04, -Vector3::x())] {
            let place = (Vector3::new(x, 0.0, 0.0), axis);
            add_finger(&mut builder, name, place, JointLimits::NONE, spring(1000.0, f64::INFINITY), pad.clone());
        }
        let mass = 0.98 * 2.0 * 0.5 * 10.0 / GRAVITY;
        let body = add_box(&mut builder, "box", Vector3::repeat(0.06), mass, &rigid(0.5));
        let place = [(body, Vector3::zeros())];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &place);
        for count in 0..20 {
            simulation.step(&positions(&[0.01, 0.01])).expect("a step");
            let p = simulation.data().X_WB[body].translation.vector;
            assert!(p.norm() < 1e-6, "h = {step}, {inertia:?}, step {count}: {p:?}");
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let normal = snapshot.joint_effort.as_slice()[0];
        assert!((normal - 10.0).abs() < 1e-3, "h = {step}, {inertia:?}: {normal} N");
    }
}

/// On a slope above the friction angle a block moves by m v/h = m g sin - mu m g cos in each step and stays
/// on the slope.
#[test]
fn a_block_slides_down_a_slope_without_a_gap() {
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(0.5));
    let body = add_box(&mut builder, "block", Vector3::new(0.1, 0.1, 0.06), 0.5, &rigid(0.5));
    let gravity = Vector3::new(0.75, 0.0, -1.0).normalize() * GRAVITY;
    let settings = quasistatic(0.01, UnactuatedInertia::Mass);
    let mut simulation = simulate(builder, gravity, settings, &[(body, Vector3::new(0.0, 0.0, 0.03))]);
    for _ in 0..10 {
        simulation.step(&isobar::stepping::JointCommand::default()).expect("a step");
        let v = simulation.data().V_WB[body].v;
        let expected = (gravity.x + 0.5 * gravity.z) * 0.01;
        assert!((v.x - expected).abs() < 1e-4 * expected, "{} for {expected}", v.x);
        // The points yield by 10 nm.
        assert!((simulation.data().X_WB[body].translation.vector.z - 0.03).abs() < 2e-8);
    }
}

/// A block that slides before a flat finger with friction needs mu m g and the drag m v/T, for any
/// height of the finger: the weight that the finger takes up as the block begins to tilt on its points fades,
/// because points that stick creep.
#[test]
fn a_pusher_with_friction_carries_no_weight_for_long() {
    let (mass, friction, speed, stiffness) = (1.0, 0.4, 0.025, 1000.0);
    for height in [0.01, 0.02, 0.03] {
        for step in [0.1, 0.01, 0.001] {
            let mut builder = SceneBuilder::new();
            add_ground(&mut builder, &rigid(friction));
            let tip = (Shape::Box { size: Vector3::new(0.02, 0.1, 0.01) }, &rigid(friction));
            let from = (Vector3::new(-0.0605, 0.0, height), Vector3::x());
            add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(stiffness, f64::INFINITY), tip);
            let block = add_box(&mut builder, "block", Vector3::new(0.1, 0.1, 0.05), mass, &rigid(friction));
            let settings = quasistatic(step, UnactuatedInertia::DRAG);
            let start = [(block, Vector3::new(0.0, 0.0, 0.025))];
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &start);
            let mut command = 0.0;
            for _ in 0..(2.0 / step) as usize {
                command += speed * step;
                simulation.step(&positions(&[command])).expect("a step");
            }
            let force = stiffness * (command - simulation.state().q[0]);
            let law = friction * mass * GRAVITY + mass * speed;
            println!("finger at {height} m, h = {step}: {force} for {law}");
            assert!((force / law - 1.0).abs() < 0.002, "{height} m, {step} s: {force} N instead of {law} N");
        }
    }
}
