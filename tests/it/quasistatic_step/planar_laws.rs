//! Pushed and held bodies against closed forms: motion cones, limit surfaces, turning by two fingers,
//! chamfers, jamming, rows of boxes.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, JointSpring};
use isobar::scene::{Actuator, SceneBuilder};
use isobar::stepping::{JointCommand, Simulation, Snapshot, StepSettings, UnactuatedInertia};

use super::{add_box, add_finger, add_ground, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at, quasistatic};

/// Half the side of the square slab, its mass, and its friction on the floor.
const HALF: f64 = 0.045;
const MASS: f64 = 0.8;
const FLOOR: f64 = 0.3;
/// The stiffness of fingers whose motion counts and not their force [N/m].
const STIFF: f64 = 1e6;
/// The tolerance of the laws at h = 0.01 s [-].
const TOLERANCE: f64 = 0.01;

fn statics(step: f64) -> StepSettings {
    quasistatic(step, UnactuatedInertia::None)
}

/// The coefficient that makes `mu` with another surface of coefficient 0.4: 2 a b/(a + b).
fn beside(mu: f64) -> f64 {
    mu * 0.4 / (2.0 * 0.4 - mu)
}

fn light() -> SpatialInertia {
    SpatialInertia::from_central(1e-3, &Vector3::zeros(), &(Matrix3::identity() * 1e-6))
}

/// Positions for the named joints, and none for the others.
fn command(simulation: &Simulation, targets: &[(&str, f64)]) -> JointCommand {
    let mut command = JointCommand::new(simulation.scene());
    for (name, position) in targets {
        command[simulation.scene().joint(name).expect("a joint")].position = Some(*position);
    }
    command
}

fn effort(simulation: &Simulation, joint: usize) -> f64 {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot.joint_effort.as_slice()[joint]
}

/// Force (x, y) and moment of Coulomb friction on four equal corner supports at the twist (x, y, w).
fn friction_of_corners(twist: &Vector3) -> Vector3 {
    let corners = [(-HALF, -HALF), (-HALF, HALF), (HALF, -HALF), (HALF, HALF)];
    corners.into_iter().fold(Vector3::zeros(), |sum, (x, y)| {
        let v = [twist.x - twist.z * y, twist.y + twist.z * x];
        let scale = -0.25 * FLOOR * MASS * GRAVITY / v[0].hypot(v[1]);
        let f = [scale * v[0], scale * v[1]];
        sum + Vector3::new(f[0], f[1], x * f[1] - y * f[0])
    })
}

/// The direction from the normal in which the contact at (-HALF, y) moves while the force of the pusher is
/// at `angle` from the normal: the twist whose friction balances this force, by Newton's method on its
/// direction, which has two angles.
fn contact_motion(y: f64, angle: f64) -> f64 {
    let force = Vector3::new(angle.cos(), angle.sin(), -HALF * angle.sin() - y * angle.cos());
    // Lengths are scaled by HALF, so that the three numbers of a twist are comparable.
    let twist = |a: &[f64; 2]| Vector3::new(a[0].cos() * a[1].cos(), a[0].sin() * a[1].cos(), a[1].sin() / HALF);
    let miss = |a: &[f64; 2]| {
        let f = friction_of_corners(&twist(a));
        let (mut f, mut g) = (-f, force);
        (f.z, g.z) = (f.z / HALF, g.z / HALF);
        let c = f.normalize().cross(&g.normalize());
        // Two independent components of a vector that is normal to both.
        (c, f.dot(&g) > 0.0)
    };
    // The nearest of a grid of twists is where Newton's method begins.
    let grid = (0..24).flat_map(|i| (-11..12).map(move |j| [f64::from(i) * 0.26, f64::from(j) * 0.13]));
    let apart = |a: &[f64; 2]| {
        let (c, same) = miss(a);
        if same { c.norm() } else { f64::INFINITY }
    };
    let mut a = grid.fold([angle, 0.0], |best, a| if apart(&a) < apart(&best) { a } else { best });
    for _ in 0..200 {
        let (c, _) = miss(&a);
        let columns = [0, 1].map(|k| {
            let (mut plus, mut minus) = (a, a);
            plus[k] += 1e-6;
            minus[k] -= 1e-6;
            (miss(&plus).0 - miss(&minus).0) / 2e-6
        });
        // Gauss and Newton: the least squares of three components.
        let [[p, q], [_, r]] =
            [[columns[0].dot(&columns[0]), columns[0].dot(&columns[1])], [0.0, columns[1].dot(&columns[1])]];
        let (s, t) = (columns[0].dot(&c), columns[1].dot(&c));
        let determinant = p * r - q * q;
        let step = [(r * s - q * t) / determinant, (p * t - q * s) / determinant];
        let size = step[0].hypot(step[1]);
        let scale = if size > 0.1 { 0.1 / size } else { 1.0 };
        a = [a[0] - scale * step[0], a[1] - scale * step[1]];
    }
    let (c, same) = miss(&a);
    let twist = if c.norm() < 1e-9 && same { twist(&a) } else { turn_about_a_corner(&force) };
    (twist.y - twist.z * HALF).atan2(twist.x - twist.z * y)
}

/// The turn about a corner, at which friction is less than its bound, that a force along `force` keeps up.
/// Newton's method does not find turns about points very near a corner, at which friction is at its bound to
/// 0.1 %.
fn turn_about_a_corner(force: &Vector3) -> Vector3 {
    let corners = [(-HALF, -HALF), (-HALF, HALF), (HALF, -HALF), (HALF, HALF)];
    let turns = corners.into_iter().flat_map(|corner| [-1.0, 1.0].map(|sign| (corner, sign)));
    let kept = turns.filter_map(|((x, y), sign)| {
        let twist = Vector3::new(sign * y, -sign * x, sign);
        let others = corners.into_iter().filter(|other| *other != (x, y)).fold(Vector3::zeros(), |sum, (px, py)| {
            let v = [twist.x - twist.z * py, twist.y + twist.z * px];
            let scale = -0.25 * FLOOR * MASS * GRAVITY / v[0].hypot(v[1]);
            sum + Vector3::new(scale * v[0], scale * v[1], px * scale * v[1] - py * scale * v[0])
        });
        let columns = [*force, Vector3::new(1.0, 0.0, -y), Vector3::new(0.0, 1.0, x)];
        let solved = Matrix3::from_columns(&columns).lu().solve(&-others)?;
        let within = solved.yz().norm() <= 1.001 * 0.25 * FLOOR * MASS * GRAVITY;
        (solved.x > 0.0 && within).then_some(twist)
    });
    let kept: Vec<_> = kept.collect();
    assert_eq!(kept.len(), 1, "one twist: {kept:?}");
    kept[0]
}

/// The slab on the floor, and a ball that moves in the plane, at the height of the floor and at its face -x.
fn slab(y: f64, mu: f64, settings: StepSettings) -> (Simulation, BodyIndex) {
    let radius = 0.005;
    let mut builder = SceneBuilder::new();
    add_ground(&mut builder, &rigid(beside(FLOOR)));
    let cart = builder.add_body("cart", light());
    let start = at(-HALF - radius, y, 1e-4);
    let spec = JointSpec {
        axis_F: Vector3::x(),
        X_PF: start,
        ..JointSpec::new("x", BodyIndex::WORLD, cart, JointKind::Prismatic)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    let actuator = Actuator { gravity_compensation: true, ..spring(STIFF, f64::INFINITY) };
    builder.set_actuator(joint, actuator);
    let ball = builder.add_body("ball", light());
    let spec = JointSpec { axis_F: Vector3::y(), ..JointSpec::new("y", cart, ball, JointKind::Prismatic) };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, actuator);
    builder
        .add_geometry(ball, "ball", at(0.0, 0.0, 0.0), Shape::Sphere { radius }, &rigid(beside(mu)))
        .expect("a ball");
    builder.exclude_contact(BodyIndex::WORLD, ball);
    let size = Vector3::new(2.0 * HALF, 2.0 * HALF, 0.02);
    let body = add_box(&mut builder, "slab", size, MASS, &rigid(0.4));
    (simulate(builder, Vector3::z() * -GRAVITY, settings, &[(body, Vector3::new(0.0, 0.0, 0.01))]), body)
}

/// The directions from the normal in which the slab's point at the pusher and the pusher itself move in one
/// step. The pusher yields to its force, so that its motion is not that of its command, `direction`.
fn pushed_direction(y: f64, mu: f64, direction: f64, step: f64) -> [f64; 2] {
    let (mut simulation, body) = slab(y, mu, statics(step));
    let reach = 0.01 * step;
    simulation.step(&positions(&[reach * direction.cos(), reach * direction.sin()])).expect("a step");
    let X_WB = simulation.data().X_WB[body];
    let p = X_WB.transform_point(&Vector3::new(-HALF, y, 0.0).into()).coords;
    let q = &simulation.state().q;
    [(p.y - y).atan2(p.x + HALF), q[1].atan2(q[0])]
}

/// A pusher that moves outside of the motion cone of its contact slips, and the contact moves along the
/// cone's edge, for the exact limit surface of four corners [Mason 1986; Lynch 1992]. Inside the cone, the
/// contact moves with the pusher. Besides the error of the order of h, the yielding of pusher and points
/// leaves up to 0.02 degrees.
#[test]
fn a_pushed_slab_has_the_motion_cone_of_its_four_corners() {
    for mu in [0.1, 0.25, 0.5] {
        for y in [-0.6 * HALF, 0.0, 0.3 * HALF, 0.8 * HALF] {
            for side in [-1.0, 1.0] {
                let edge = contact_motion(y, side * f64::atan(mu));
                let direction = edge + side * 0.25;
                let errors = [0.1, 0.01, 0.001].map(|step| (pushed_direction(y, mu, direction, step)[0] - edge).abs());
                println!("mu {mu}, y {y:.4}: edge {:.2} deg, errors {errors:?}", edge.to_degrees());
                let most = TOLERANCE * edge.abs().max(0.1);
                assert!(errors[1].max(errors[2]) < most, "mu {mu}, y = {y}: {errors:?} of {edge}");
                assert!(errors[1] < 0.2 * errors[0] + 4e-4, "of the order of h, mu {mu}, y = {y}: {errors:?}");
            }
            let middle = 0.5 * (contact_motion(y, f64::atan(mu)) + contact_motion(y, -f64::atan(mu)));
            let [slab, pusher] = pushed_direction(y, mu, middle, 0.01);
            let error = (slab - pusher).abs();
            assert!(error < 2e-3, "sticking, mu {mu}, y = {y}: {error}");
        }
    }
}

/// A slab that is moved with a given twist: friction is that of the four corners, and it does most work on
/// that twist (normality of the limit surface).
#[test]
fn friction_of_a_moved_slab_is_normal_to_its_limit_surface() {
    let twists = [
        Vector3::new(0.01, 0.0, 0.0),
        Vector3::new(0.006, 0.008, 0.0),
        Vector3::new(0.01, 0.0, 0.1),
        Vector3::new(0.005, -0.002, -0.3),
        Vector3::new(0.001, 0.002, 0.5),
    ];
    let measured = twists.map(|twist| {
        let step = 0.01;
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(beside(FLOOR)));
        let mut parent = BodyIndex::WORLD;
        for (name, kind, axis_F) in [
            ("x", JointKind::Prismatic, Vector3::x()),
            ("y", JointKind::Prismatic, Vector3::y()),
            ("yaw", JointKind::Revolute, Vector3::z()),
        ] {
            let body = builder.add_body(name, light());
            let spec = JointSpec { axis_F, ..JointSpec::new(&format!("{name}_joint"), parent, body, kind) };
            let joint = builder.add_joint(spec).expect("a joint");
            builder.set_actuator(joint, spring(if kind == JointKind::Revolute { 1e4 } else { STIFF }, f64::INFINITY));
            parent = body;
        }
        let size = Vector3::new(2.0 * HALF, 2.0 * HALF, 0.02);
        let body = add_box(&mut builder, "slab", size, MASS, &rigid(0.4));
        let spec = JointSpec {
            axis_F: Vector3::z(),
            X_PF: at(0.0, 0.0, 0.01),
            ..JointSpec::new("lift", parent, body, JointKind::Prismatic)
        };
        builder.add_joint(spec).expect("a joint");
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, statics(step), &[]);
        let names = ["x_joint", "y_joint", "yaw_joint"];
        let targets: Vec<_> = names.into_iter().enumerate().map(|(k, name)| (name, twist[k] * step)).collect();
        simulation.step(&command(&simulation, &targets)).expect("a step");
        // The drives yield, so that the twist is not quite that of the command.
        let moved = Vector3::from_iterator((0..3).map(|joint| simulation.state().q[joint] / step));
        (moved, Vector3::from_iterator((0..3).map(|joint| effort(&simulation, joint))))
    });
    for (twist, load) in &measured {
        let expected = -friction_of_corners(twist);
        let scale = FLOOR * MASS * GRAVITY;
        let error = ((load - expected).xy().norm() / scale).max((load.z - expected.z).abs() / (scale * HALF));
        assert!(error < TOLERANCE, "{twist:?}: {load:?} for {expected:?}");
        for (other_twist, other) in &measured {
            let lost = (load - other).dot(twist);
            assert!(lost > -TOLERANCE * load.dot(twist).abs(), "{twist:?} and {other_twist:?}: {lost}");
        }
    }
}

/// Two fingers turn a slab in place: 2 F l = mu m g r, with r from the centre to a corner, and the centre
/// stays.
#[test]
fn two_fingers_turn_a_slab_about_its_centre() {
    for lever in [0.02, 0.035] {
        let forces = [0.1, 0.01, 0.001].map(|step| {
            let mut builder = SceneBuilder::new();
            add_ground(&mut builder, &rigid(beside(FLOOR)));
            for (name, side) in [("left", -1.0), ("right", 1.0)] {
                let ball = (Shape::Sphere { radius: 0.005 }, &rigid(0.0));
                let place = (Vector3::new(side * (HALF + 0.005), side * lever, 1e-4), Vector3::x() * -side);
                let body = add_finger(&mut builder, name, place, JointLimits::NONE, spring(1e5, f64::INFINITY), ball);
                builder.exclude_contact(BodyIndex::WORLD, body);
            }
            let size = Vector3::new(2.0 * HALF, 2.0 * HALF, 0.02);
            let body = add_box(&mut builder, "slab", size, MASS, &rigid(0.4));
            let start = [(body, Vector3::new(0.0, 0.0, 0.01))];
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, statics(step), &start);
            for count in 1..=4 {
                let reach = 5e-5 + 1e-4 * step * f64::from(count);
                simulation.step(&positions(&[reach, reach])).expect("a step");
            }
            let centre = simulation.data().X_WB[body].translation.vector;
            assert!(centre.xy().norm() < 1e-7, "{centre:?}");
            0.5 * (effort(&simulation, 0) + effort(&simulation, 1))
        });
        let expected = FLOOR * MASS * GRAVITY * HALF * f64::sqrt(2.0) / (2.0 * lever);
        let errors = forces.map(|force| (force / expected - 1.0).abs());
        println!("lever {lever}: {forces:?} for {expected}");
        assert!(errors[1] < TOLERANCE && errors[1] < 0.2 * errors[0] + 1e-3, "lever {lever}: {errors:?}");
        assert!(errors[2] < TOLERANCE, "lever {lever}: {errors:?}");
    }
}

/// A tip that slides down a chamfer of the slope a is pushed sideways by Fx = Fz tan(a - atan mu).
#[test]
fn a_tip_slides_down_a_chamfer() {
    for (slope, mu) in [(0.8, 0.2), (1.0, 0.4), (0.6, 0.1)] {
        let errors = [0.1, 0.01, 0.001].map(|step| {
            let mut builder = SceneBuilder::new();
            let turned = isobar::math::RigidTransform::from_parts(
                Vector3::zeros().into(),
                isobar::math::Rotation::new(Vector3::y() * slope),
            );
            builder
                .add_geometry(BodyIndex::WORLD, "chamfer", turned, Shape::HalfSpace, &rigid(beside(mu)))
                .expect("a chamfer");
            let cart = builder.add_body("cart", light());
            let normal = Vector3::new(f64::sin(slope), 0.0, f64::cos(slope)) * 0.005;
            let spec = JointSpec {
                axis_F: Vector3::x(),
                X_PF: at(normal.x, 0.0, normal.z),
                ..JointSpec::new("x", BodyIndex::WORLD, cart, JointKind::Prismatic)
            };
            let x = builder.add_joint(spec).expect("a joint");
            builder.set_actuator(x, spring(2000.0, f64::INFINITY));
            let tip = builder.add_body("tip", light());
            let spec = JointSpec { axis_F: Vector3::z(), ..JointSpec::new("z", cart, tip, JointKind::Prismatic) };
            let z = builder.add_joint(spec).expect("a joint");
            builder.set_actuator(z, spring(5000.0, f64::INFINITY));
            builder
                .add_geometry(tip, "tip", at(0.0, 0.0, 0.0), Shape::Sphere { radius: 0.005 }, &rigid(0.4))
                .expect("a tip");
            let mut simulation = simulate(builder, Vector3::zeros(), statics(step), &[]);
            for count in 1..=10 {
                simulation.step(&positions(&[0.0, -0.01 * step * f64::from(count)])).expect("a step");
            }
            let ratio = effort(&simulation, 0) / effort(&simulation, 1);
            (ratio / f64::tan(slope - f64::atan(mu)) - 1.0).abs()
        });
        println!("slope {slope}, mu {mu}: {errors:?}");
        assert!(errors[1].max(errors[2]) < TOLERANCE, "slope {slope}, mu {mu}: {errors:?}");
    }
}

/// A drawer of the length L in straight guides that is pushed off its middle by e against a spring.
fn drawer(mu: f64, off: f64, step: f64) -> (Simulation, f64) {
    let (length, width, gap, load) = (0.1, 0.06, 1e-6, 200.0);
    let mut builder = SceneBuilder::new();
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let size = Vector3::new(1.0, 0.02, 0.1);
        let X_WG = at(0.0, side * (0.5 * width + gap + 0.01), 0.0);
        builder.add_geometry(BodyIndex::WORLD, name, X_WG, Shape::Box { size }, &rigid(beside(mu))).expect("a guide");
    }
    let mut parent = BodyIndex::WORLD;
    for (name, kind, axis_F) in [("x", JointKind::Prismatic, Vector3::x()), ("y", JointKind::Prismatic, Vector3::y())] {
        let body = builder.add_body(name, light());
        let stiffness = if name == "x" { load } else { 0.0 };
        let spec = JointSpec {
            axis_F,
            spring: JointSpring { stiffness, reference: 0.0 },
            ..JointSpec::new(&format!("{name}_joint"), parent, body, kind)
        };
        builder.add_joint(spec).expect("a joint");
        parent = body;
    }
    let size = Vector3::new(length, width, 0.02);
    let body = add_box(&mut builder, "drawer", size, 0.2, &rigid(0.4));
    let spec = JointSpec { axis_F: Vector3::z(), ..JointSpec::new("yaw", parent, body, JointKind::Revolute) };
    builder.add_joint(spec).expect("a joint");
    // A knob beyond the guides, at which the finger pushes.
    let knob = Shape::Box { size: Vector3::new(0.01, 2.0 * off.abs() + 0.04, 0.01) };
    builder.add_geometry(body, "knob", at(-0.5 * length - 0.005, 0.0, 0.2), knob, &rigid(0.0)).expect("a knob");
    let ball = (Shape::Sphere { radius: 0.005 }, &rigid(0.0));
    let place = (Vector3::new(-0.5 * length - 0.015, off, 0.2), Vector3::x());
    add_finger(&mut builder, "finger", place, JointLimits::NONE, spring(2000.0, f64::INFINITY), ball);
    let inertia = UnactuatedInertia::Drag { time_constant: 10.0 };
    (simulate(builder, Vector3::zeros(), quasistatic(step, inertia), &[]), load)
}

/// N = F e/L at two corners, and friction 2 mu N: F = R/(1 - 2 mu e/L) moves the drawer against the load R.
/// For 2 mu e/L > 1 it jams: no force moves it.
#[test]
fn a_drawer_needs_more_force_off_its_middle_and_jams() {
    for (mu, off) in [(0.2, 0.03), (0.3, 0.06), (0.3, 0.1)] {
        let errors = [0.1, 0.01, 0.001].map(|step| {
            let (mut simulation, load) = drawer(mu, off, step);
            for count in 1..=10 {
                let target = [("finger_joint", 0.05 * step * f64::from(count))];
                simulation.step(&command(&simulation, &target)).expect("a step");
            }
            let finger = simulation.scene().joint("finger_joint").expect("a joint");
            let x = simulation.scene().joint("x_joint").expect("a joint");
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            // With the drag m v/T
            let resistance = load * snapshot.joint_position[x] + 0.202 * snapshot.joint_velocity[x] / 10.0;
            let expected = resistance / (1.0 - 2.0 * mu * off / 0.1);
            println!("drawer mu {mu}, e {off}, h {step}: {} for {expected}", snapshot.joint_effort[finger]);
            (snapshot.joint_effort[finger] / expected - 1.0).abs()
        });
        assert!(errors[1].max(errors[2]) < TOLERANCE, "mu {mu}, e = {off}: {errors:?}");
    }
    let (mut simulation, _) = drawer(0.3, 0.2, 0.01);
    for count in 1..=20 {
        simulation.step(&command(&simulation, &[("finger_joint", 1e-3 * f64::from(count))])).expect("a step");
    }
    let x = simulation.scene().joint("x_joint").expect("a joint");
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    assert!(snapshot.joint_position[x].abs() < 1e-4, "{}", snapshot.joint_position[x]);
    let finger = simulation.scene().joint("finger_joint").expect("a joint");
    assert!(snapshot.joint_effort[finger] > 30.0, "{}", snapshot.joint_effort[finger]);
}

/// A row of n boxes that a finger without friction pushes along needs n mu m g.
#[test]
fn a_row_of_boxes_needs_the_friction_of_all() {
    for count in [10_u32, 30] {
        let errors = [0.1, 0.01, 0.001].map(|step| {
            let (side, mass) = (0.04, 0.1);
            let mut builder = SceneBuilder::new();
            add_ground(&mut builder, &rigid(0.3));
            let ball = (Shape::Sphere { radius: 0.005 }, &rigid(0.0));
            let place = (Vector3::new(-0.5 * side - 0.005, 0.0, 0.2 * side), Vector3::x());
            add_finger(&mut builder, "finger", place, JointLimits::NONE, spring(STIFF, f64::INFINITY), ball);
            let bodies: Vec<_> = (0..count)
                .map(|i| {
                    let body = add_box(&mut builder, &format!("box_{i}"), Vector3::repeat(side), mass, &rigid(0.3));
                    (body, Vector3::new(side * f64::from(i), 0.0, 0.5 * side))
                })
                .collect();
            let settings = quasistatic(step, UnactuatedInertia::Drag { time_constant: 10.0 });
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &bodies);
            for count in 1..=5 {
                simulation.step(&positions(&[0.01 * step * f64::from(count)])).expect("a step");
            }
            let expected = 0.3 * mass * GRAVITY * f64::from(count);
            println!("{count} boxes, h = {step}: {} for {expected}", effort(&simulation, 0));
            (effort(&simulation, 0) / expected - 1.0).abs()
        });
        assert!(errors[1].max(errors[2]) < TOLERANCE, "{count} boxes: {errors:?}");
    }
}

/// A grasp carries 2 mu N and no more: a box 2 % too heavy moves down at the speed at which the drag carries
/// the rest, and the normal force stays that of the springs.
#[test]
fn a_grasp_beyond_its_capacity_slips_with_the_friction_of_the_law() {
    for step in [0.1, 0.01, 0.001] {
        let mut builder = SceneBuilder::new();
        let pad = (Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) }, &rigid(0.5));
        for (name, x, axis) in [("left", -0.04, Vector3::x()), ("right", 0.04, -Vector3::x())] {
            let place = (Vector3::new(x, 0.0, 0.0), axis);
            add_finger(&mut builder, name, place, JointLimits::NONE, spring(1000.0, f64::INFINITY), pad.clone());
        }
        let mass = 1.02 * 2.0 * 0.5 * 10.0 / GRAVITY;
        let body = add_box(&mut builder, "box", Vector3::repeat(0.06), mass, &rigid(0.5));
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let mut simulation =
            simulate(builder, Vector3::zeros() - Vector3::z() * GRAVITY, settings, &[(body, Vector3::zeros())]);
        simulation.step(&positions(&[0.01, 0.01])).expect("a step");
        let normal = effort(&simulation, 0);
        assert!((normal - 10.0).abs() < 1e-3, "h = {step}: {normal} N");
        let resistance = -simulation.data().V_WB[body].v.z * mass;
        assert!((resistance / 0.2 - 1.0).abs() < TOLERANCE, "h = {step}: {resistance} N of drag for 0.2");
    }
}
