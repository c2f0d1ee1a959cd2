//! Pressure fields whose bodies turn far in a step: they carry other bodies on turntables and in hands, slide
//! along arcs, and roll.

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3, rotation_vector};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{
    DerivativeError, JointCommand, JointTarget, QuasistaticDerivatives, Simulation, Snapshot, UnactuatedInertia,
};

use super::derivatives::{Case, sharp};
use super::random_states::error_of;
use super::{add_box, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at, compliant, cuboid_mesh, quasistatic};

/// The materials of two bodies, at least one of which is compliant.
fn materials(friction: f64) -> [(&'static str, [ContactProperties; 2]); 3] {
    let soft = compliant(1e6, 0.0, friction);
    [
        ("on a soft one", [soft.clone(), rigid(friction)]),
        ("soft", [rigid(friction), soft.clone()]),
        ("both soft", [soft.clone(), soft]),
    ]
}

fn add_free(builder: &mut SceneBuilder, mass: f64, shape: &Shape, properties: &ContactProperties) -> BodyIndex {
    let moments = Matrix3::from_diagonal_element(4e-4 * mass);
    let body = builder.add_body("object", SpatialInertia::from_central(mass, &Vector3::zeros(), &moments));
    builder.add_geometry(body, "object", at(0.0, 0.0, 0.0), shape.clone(), properties).expect("a geometry");
    body
}

/// A table that turns about the vertical, with its top at z = 0.
fn add_table(builder: &mut SceneBuilder, shape: &Shape, properties: &ContactProperties) -> BodyIndex {
    let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &Matrix3::from_diagonal_element(0.1));
    let table = builder.add_body("table", inertia);
    let spec = JointSpec {
        axis_F: Vector3::z(),
        limits: JointLimits::NONE,
        ..JointSpec::new("table_joint", BodyIndex::WORLD, table, JointKind::Revolute)
    };
    let joint = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(joint, spring(1e3, f64::INFINITY));
    builder.add_geometry(table, "table", at(0.0, 0.0, -0.05), shape.clone(), properties).expect("a table");
    table
}

/// An object on a turntable.
fn turntable(
    table: &Shape,
    [table_properties, properties]: &[ContactProperties; 2],
    (object, height): (&Shape, f64),
    step: f64,
) -> (Simulation, [BodyIndex; 2]) {
    let mut builder = SceneBuilder::new();
    let table = add_table(&mut builder, table, table_properties);
    let body = add_free(&mut builder, 0.3, object, properties);
    let settings = quasistatic(step, UnactuatedInertia::DRAG);
    let start = [(body, Vector3::new(0.2, 0.0, height))];
    (simulate(builder, Vector3::z() * -GRAVITY, settings, &start), [table, body])
}

fn relative(simulation: &Simulation, [a, b]: [BodyIndex; 2]) -> RigidTransform {
    simulation.data().X_WB[a].inverse() * simulation.data().X_WB[b]
}

/// Objects that touch a turntable by a pressure field keep their radius and their place on it in steps that
/// turn it by up to one radian, but for the creep of sticking friction. The radius of 0.2 m was 0.176 m after
/// a turn in steps of 0.04 rad, and 0.107 m in steps of 0.2 rad.
#[test]
fn objects_stay_on_turntables_by_pressure_fields() {
    let objects = [
        (Shape::Box { size: Vector3::new(0.06, 0.05, 0.04) }, 0.02),
        (Shape::Cylinder { radius: 0.03, length: 0.05 }, 0.025),
        (Shape::Mesh(Arc::new(cuboid_mesh(&Vector3::new(0.05, 0.06, 0.03)))), 0.015),
    ];
    let round = Shape::Cylinder { radius: 0.4, length: 0.1 };
    let square = Shape::Box { size: Vector3::new(0.8, 0.8, 0.1) };
    for (table, steps) in
        [(&round, [(0.01, 0.05), (0.1, 0.04), (0.5, 1.0)]), (&square, [(0.1, 0.1), (0.5, 0.2), (0.5, 0.314)])]
    {
        for ((kind, properties), (object, height)) in
            materials(0.8).iter().flat_map(|kind| objects.iter().map(move |object| (kind, object)))
        {
            for (step, turn) in steps {
                let label = format!("{} {kind}, {step} s, {turn} rad", object.kind());
                let (mut simulation, bodies) = turntable(table, properties, (object, *height), step);
                for _ in 0..3 {
                    simulation.step(&positions(&[0.0])).expect("a step");
                }
                let before = relative(&simulation, bodies);
                for number in 1..=(6.3 / turn) as u32 {
                    let command = positions(&[turn * f64::from(number)]);
                    simulation.step(&command).unwrap_or_else(|error| panic!("{label}: {error}"));
                }
                let after = relative(&simulation, bodies);
                let moved = (after.translation.vector - before.translation.vector).norm();
                let turned = (after.rotation.matrix() - before.rotation.matrix()).norm();
                let [radius, was] = [after, before].map(|X| X.translation.vector.xy().norm());
                println!("{label}: it moved by {moved:.2e} m and {turned:.2e}, outwards by {:.2e} m", radius - was);
                assert!((radius - was).abs() < 5e-5, "{label}: the radius is {radius} and was {was} m");
                assert!(moved < 1e-4 && turned < 3e-3, "{label}: it moved by {moved} m and {turned}");
            }
        }
    }
}

/// The same for robots: bases that float and carry a link, and bases on planar joints. Their radius of 0.2 m
/// was 0.146 m after a turn.
#[test]
fn bases_of_robots_stay_on_turntables() {
    for base in [JointKind::Floating, JointKind::Planar] {
        for (kind, [table_properties, properties]) in &materials(0.8) {
            let mut builder = SceneBuilder::new();
            add_table(&mut builder, &Shape::Cylinder { radius: 0.4, length: 0.1 }, table_properties);
            let box_shape = Shape::Box { size: Vector3::new(0.06, 0.05, 0.04) };
            let moments = Matrix3::from_diagonal_element(2e-4);
            let inertia = SpatialInertia::from_central(0.3, &Vector3::zeros(), &moments);
            let body = builder.add_body("base", inertia);
            builder.add_geometry(body, "base", at(0.0, 0.0, 0.0), box_shape, properties).expect("a geometry");
            let place = at(0.2, 0.0, 0.01999);
            let free =
                JointSpec { axis_F: Vector3::z(), X_PF: place, ..JointSpec::new("free", BodyIndex::WORLD, body, base) };
            builder.add_joint(free).expect("a base");
            let knob = builder.add_body("knob", SpatialInertia::from_central(0.01, &Vector3::zeros(), &moments));
            let spec = JointSpec {
                axis_F: Vector3::z(),
                X_PF: at(0.0, 0.0, 0.05),
                limits: JointLimits::NONE,
                ..JointSpec::new("knob", body, knob, JointKind::Revolute)
            };
            let joint = builder.add_joint(spec).expect("a joint");
            builder.set_actuator(joint, spring(100.0, f64::INFINITY));
            let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
            for number in 0..66_u32 {
                let turn = 0.1 * f64::from(number.saturating_sub(3));
                let command = some_positions(&[Some(turn), Some(0.0)]);
                simulation.step(&command).unwrap_or_else(|error| panic!("{base:?} {kind}: {error}"));
            }
            let radius = simulation.data().X_WB[body].translation.vector.xy().norm();
            assert!((radius - 0.2).abs() < 5e-5, "{base:?} {kind}: {radius} m");
        }
    }
}

/// A soft arm sags by 0.4 rad in its first step, with a box on its tray: it is not the command that turns
/// them, so that shorter parts do not help. Closed form: the spring balances the weights where the step ends.
#[test]
fn a_soft_arm_sags_with_what_it_carries() {
    for (stiffness, step) in [13.0, 3.8].into_iter().flat_map(|k| [0.2, 0.05, 0.01].map(|step| (k, step))) {
        let mut builder = SceneBuilder::new();
        let soft = compliant(1e6, 0.0, 0.5);
        let center = Vector3::new(0.1, 0.0, 0.0);
        let inertia = SpatialInertia::from_central(1.63, &center, &Matrix3::from_diagonal_element(0.0163));
        let link = builder.add_body("link", inertia);
        let spec = JointSpec {
            axis_F: Vector3::y(),
            limits: JointLimits::NONE,
            ..JointSpec::new("joint", BodyIndex::WORLD, link, JointKind::Revolute)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        builder.set_actuator(joint, spring(stiffness, f64::INFINITY));
        let tray = Shape::Box { size: Vector3::new(0.3, 0.3, 0.02) };
        builder.add_geometry(link, "tray", at(0.2, 0.0, 0.0), tray, &soft).expect("a tray");
        let side = Shape::Box { size: Vector3::repeat(0.06) };
        let body = add_free(&mut builder, 2.0, &side, &soft);
        let settings = quasistatic(step, UnactuatedInertia::DRAG);
        let start = [(body, Vector3::new(0.2, 0.0, 0.0399))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &start);
        for _ in 0..8 {
            simulation.step(&positions(&[0.0])).unwrap_or_else(|error| panic!("{step} s: {error}"));
        }
        let q = simulation.state().q[0];
        let place = simulation.data().X_WB[body].translation.vector.x;
        // The softer arm drops the box
        let load = if stiffness > 10.0 { 2.0 * place } else { 0.0 };
        let weights = GRAVITY * (1.63 * 0.1 * q.cos() + load);
        println!("{step} s: {q} rad, {} and {weights} N m", stiffness * q);
        assert!((stiffness * q / weights - 1.0).abs() < 1e-2, "{step} s: {q} rad, {weights} N m");
    }
}

/// A hand of two fingers on a table that turns, with an object between them. The line of the fingers is
/// inclined to the table by `tilt` \[rad\].
fn hand(
    (shape, tip): (&Shape, &Shape),
    [tips, properties]: &[ContactProperties; 2],
    tilt: f64,
) -> (Simulation, [BodyIndex; 2]) {
    let mut builder = SceneBuilder::new();
    let hand = add_table(&mut builder, &Shape::Box { size: Vector3::new(0.01, 0.01, 0.01) }, &rigid(0.8));
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &Matrix3::from_diagonal_element(1e-4));
        let finger = builder.add_body(name, inertia);
        let along = Vector3::new(tilt.cos(), 0.0, tilt.sin()) * side;
        let spec = JointSpec {
            axis_F: -along,
            X_PF: at(0.2 + 0.07 * along.x, 0.0, 0.07 * along.z),
            limits: JointLimits::NONE,
            ..JointSpec::new(&format!("{name}_joint"), hand, finger, JointKind::Prismatic)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        builder.set_actuator(joint, spring(1e3, f64::INFINITY));
        builder.add_geometry(finger, "tip", at(0.0, 0.0, 0.0), tip.clone(), tips).expect("a tip");
    }
    let object = add_free(&mut builder, 0.2, shape, properties);
    let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
    (simulate(builder, Vector3::zeros(), settings, &[(object, Vector3::new(0.2, 0.0, 0.0))]), [hand, object])
}

/// Turns a hand by `turns` \[rad\], and returns the change of the pose of what it holds.
fn turned_in_hand(
    label: &str,
    (mut simulation, bodies): (Simulation, [BodyIndex; 2]),
    turns: impl Iterator<Item = f64>,
) -> (f64, f64) {
    let mut step = |turn: f64| {
        let command = positions(&[turn, 0.03, 0.03]);
        simulation.step(&command).unwrap_or_else(|error| panic!("{label}: {error}"));
        relative(&simulation, bodies)
    };
    (0..3).for_each(|_| _ = step(0.0));
    let before = step(0.0);
    let after = turns.map(step).last().expect("a step");
    let moved = (after.translation.vector - before.translation.vector).norm();
    (moved, (after.rotation.matrix() - before.rotation.matrix()).norm())
}

/// Objects in a soft hand that turns by 60 steps of 0.1 rad keep their pose in it. They moved by 1.6 to 2.2
/// mm and turned by up to 0.1.
#[test]
fn soft_hands_that_turn_keep_what_they_hold() {
    let shapes = [
        Shape::Box { size: Vector3::new(0.06, 0.05, 0.04) },
        Shape::Sphere { radius: 0.03 },
        Shape::Cylinder { radius: 0.03, length: 0.05 },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.04, 0.03, 0.02) },
    ];
    let tips = [Shape::Box { size: Vector3::new(0.04, 0.05, 0.05) }, Shape::Sphere { radius: 0.02 }];
    for (kind, properties) in materials(0.8) {
        for held in shapes.iter().flat_map(|shape| tips.iter().map(move |tip| (shape, tip))) {
            let label = format!("{} {kind} by {}", held.0.kind(), held.1.kind());
            let turns = (1..=60).map(|number| 0.1 * f64::from(number));
            let (moved, turned) = turned_in_hand(&label, hand(held, &properties, 0.0), turns);
            println!("{label}: it moved by {moved} m and {turned}");
            assert!(moved < 3e-6 && turned < 1e-3, "{label}: it moved by {moved} m and {turned}");
        }
    }
}

/// A ball between two balls whose line is inclined to the axis of the hand moves with it as one.
#[test]
fn balls_move_as_one() {
    let held = (&Shape::Sphere { radius: 0.03 }, &Shape::Sphere { radius: 0.02 });
    for (kind, properties) in materials(0.8) {
        for (turn, count) in [(0.1, 60), (0.3, 20), (1.0, 6)] {
            let label = format!("{kind}, {turn} rad");
            let turns = (1..=count).map(|number| turn * f64::from(number));
            let (moved, turned) = turned_in_hand(&label, hand(held, &properties, 0.7), turns);
            println!("{label}: it moved by {moved} m and {turned}");
            assert!(moved < 5e-5 && turned < 1e-3, "{label}: it moved by {moved} m and {turned}");
        }
    }
}

/// Two soft boxes on each other stay on a turntable.
#[test]
fn stacks_stay_on_turntables() {
    for (kind, [table_properties, _]) in materials(0.8) {
        for (step, turn) in [(0.01, 0.05), (0.1, 0.1), (0.5, 0.314), (0.5, 1.0)] {
            let label = format!("{kind}, {step} s, {turn} rad");
            let mut builder = SceneBuilder::new();
            let table = Shape::Cylinder { radius: 0.4, length: 0.1 };
            let table = add_table(&mut builder, &table, &table_properties);
            let size = Vector3::new(0.06, 0.05, 0.04);
            let both = ["lower", "upper"].map(|name| add_box(&mut builder, name, size, 0.3, &compliant(1e6, 0.0, 0.8)));
            let place = [(both[0], Vector3::new(0.2, 0.0, 0.02)), (both[1], Vector3::new(0.21, 0.0, 0.06))];
            let settings = quasistatic(step, UnactuatedInertia::DRAG);
            let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
            let poses = |simulation: &Simulation| both.map(|body| relative(simulation, [table, body]));
            for _ in 0..3 {
                simulation.step(&positions(&[0.0])).expect("a step");
            }
            let before = poses(&simulation);
            for number in 1..=(6.3 / turn) as u32 {
                let command = positions(&[turn * f64::from(number)]);
                simulation.step(&command).unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            for (after, before) in poses(&simulation).iter().zip(&before) {
                let moved = (after.translation.vector - before.translation.vector).norm();
                let turned = (after.rotation.matrix() - before.rotation.matrix()).norm();
                println!("{label}: it moved by {moved} m and {turned}");
                assert!(moved < 5e-4 && turned < 2e-2, "{label}: it moved by {moved} m and {turned}");
            }
        }
    }
}

/// Positions for some joints.
fn some_positions(targets: &[Option<f64>]) -> JointCommand {
    targets.iter().map(|position| JointTarget { position: *position, ..JointTarget::default() }).collect()
}

/// A chain of joints, some of which have a spring, with a pad on the last one, of 1 kg.
fn pad_on_chain(
    chain: &[(JointKind, Vector3, Vector3, bool)],
    (pad, height): (&Shape, f64),
    [ground, properties]: &[ContactProperties; 2],
    step: f64,
) -> Simulation {
    let mut builder = SceneBuilder::new();
    let slab = Shape::Box { size: Vector3::new(4.0, 4.0, 0.1) };
    builder.add_geometry(BodyIndex::WORLD, "ground", at(0.0, 0.0, -0.05), slab, ground).expect("a ground");
    let mut parent = BodyIndex::WORLD;
    for (number, (kind, axis, p, driven)) in chain.iter().enumerate() {
        let last = number + 1 == chain.len();
        let mass = if last { 1.0 } else { 1e-3 };
        let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal_element(1e-4));
        let body = builder.add_body(&format!("link {number}"), inertia);
        let name = format!("joint {number}");
        let spec = JointSpec {
            axis_F: *axis,
            X_PF: at(p.x, p.y, p.z),
            limits: JointLimits::NONE,
            ..JointSpec::new(&name, parent, body, *kind)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        if *driven {
            builder.set_actuator(joint, spring(1e5, f64::INFINITY));
        }
        if last {
            builder.add_geometry(body, "pad", at(0.0, 0.0, height), pad.clone(), properties).expect("a pad");
        }
        parent = body;
    }
    simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, UnactuatedInertia::DRAG), &[])
}

/// The efforts of the joints.
fn efforts(simulation: &Simulation) -> Vec<f64> {
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot.joint_effort.as_slice().to_vec()
}

/// The tip of an arm that slides along an arc on a soft table, or a soft one on a table, has the friction mu
/// N against its velocity at the end of the step, whatever its shape and the turn of a step, at 1 rad/s.
#[test]
fn tips_that_slide_along_arcs_have_their_friction() {
    let tips = [
        (Shape::Sphere { radius: 0.02 }, 0.02),
        (Shape::Capsule { radius: 0.02, length: 0.03 }, 0.035),
        (Shape::Cylinder { radius: 0.02, length: 0.03 }, 0.015),
        (Shape::Box { size: Vector3::new(0.03, 0.03, 0.03) }, 0.015),
    ];
    let chain = [
        (JointKind::Revolute, Vector3::z(), Vector3::zeros(), true),
        (JointKind::Prismatic, Vector3::z(), Vector3::x() * 0.3, false),
    ];
    for ((kind, properties), (tip, height)) in
        materials(0.5).iter().flat_map(|kind| tips.iter().map(move |tip| (kind, tip)))
    {
        let torques = [0.01, 0.1, 0.3, 1.0, 2.0].map(|turn| {
            let label = format!("{} {kind}, {turn} rad", tip.kind());
            let mut simulation = pad_on_chain(&chain, (tip, *height), properties, turn);
            for number in [0.0, 0.0, 1.0, 2.0, 3.0] {
                let command = some_positions(&[Some(turn * number), None]);
                simulation.step(&command).unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            efforts(&simulation)[0] / (0.5 * GRAVITY * 0.3)
        });
        println!("{} {kind}: {torques:?} of mu N R", tip.kind());
        // The sides of a tip that is sunk into a field press, too
        for torque in torques {
            let same = (torque / torques[0] - 1.0).abs() < 5e-3;
            assert!((torque - 1.0).abs() < 5e-2 && same, "{} {kind}: {torques:?} of mu N R", tip.kind());
        }
    }
}

/// A pad that slides along x while it turns about its own axis has no friction across its way.
#[test]
fn pads_that_slide_and_spin_have_their_friction() {
    let pads = [
        (Shape::Box { size: Vector3::new(0.03, 0.03, 0.03) }, 0.015),
        (Shape::Cylinder { radius: 0.02, length: 0.03 }, 0.015),
    ];
    let chain = [
        (JointKind::Prismatic, Vector3::x(), Vector3::zeros(), true),
        (JointKind::Prismatic, Vector3::y(), Vector3::zeros(), true),
        (JointKind::Revolute, Vector3::z(), Vector3::zeros(), true),
        (JointKind::Prismatic, Vector3::z(), Vector3::zeros(), false),
    ];
    for ((kind, properties), (pad, height)) in
        materials(0.5).iter().flat_map(|kind| pads.iter().map(move |pad| (kind, pad)))
    {
        for turn in [0.1, 0.3, 1.0, 2.0] {
            let label = format!("{} {kind}, {turn} rad", pad.kind());
            let mut simulation = pad_on_chain(&chain, (pad, *height), properties, turn);
            for number in [0.0, 0.0, 1.0, 2.0, 3.0] {
                let command = some_positions(&[Some(0.2 * turn * number), Some(0.0), Some(turn * number), None]);
                simulation.step(&command).unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            let forces = efforts(&simulation);
            let [along, across] = [forces[0], forces[1]].map(|force| force / (0.5 * GRAVITY));
            println!("{label}: {along} along and {across} across of mu N");
            assert!(across.abs() < 3e-2 && (along - 1.0).abs() < 5e-2, "{label}: {along} and {across} of mu N");
        }
    }
}

/// A box that is turned while a soft belt carries it follows the belt, and does not leave its line.
#[test]
fn belts_carry_what_turns_on_them() {
    let chain = [
        (JointKind::Prismatic, Vector3::x(), Vector3::x() * -1.0, false),
        (JointKind::Prismatic, Vector3::y(), Vector3::zeros(), false),
        (JointKind::Revolute, Vector3::z(), Vector3::zeros(), true),
        (JointKind::Prismatic, Vector3::z(), Vector3::zeros(), false),
    ];
    let pad = Shape::Box { size: Vector3::new(0.06, 0.05, 0.04) };
    for (kind, [ground, properties]) in materials(0.5) {
        let belt = ContactProperties { surface_velocity: Some(Vector3::x() * 0.2), ..ground.clone() };
        for turn in [0.1, 0.3, 1.0] {
            let label = format!("{kind}, {turn} rad");
            let mut simulation = pad_on_chain(&chain, (&pad, 0.02), &[belt.clone(), properties.clone()], 0.1);
            for number in 1..=10 {
                let command = some_positions(&[None, None, Some(turn * f64::from(number)), None]);
                simulation.step(&command).unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            let q = &simulation.state().q;
            println!("{label}: it moved by {} m and by {} m aside", q[0], q[1]);
            assert!((q[0] - 0.2).abs() < 2e-2 && q[1].abs() < 1e-4, "{label}: it moved by {} and {} m", q[0], q[1]);
        }
    }
}

/// A ball and a cylinder beneath a board that moves roll by half its way, the same way for each radian: a
/// ball in steps of 0.05 to 2 rad, a cylinder in steps of up to 0.3 rad.
#[test]
fn soft_balls_roll_by_their_radius() {
    let shapes = [Shape::Sphere { radius: 0.03 }, Shape::Cylinder { radius: 0.03, length: 0.05 }];
    for ((kind, [ground, properties]), shape) in
        materials(1.0).iter().flat_map(|kind| shapes.iter().map(move |shape| (kind, shape)))
    {
        let turns = if matches!(shape, Shape::Sphere { .. }) { [0.05, 1.0, 2.0] } else { [0.05, 0.1, 0.3] };
        let mut ways = turns.map(|turn| {
            let label = format!("{} {kind}, {turn} rad", shape.kind());
            let (mut simulation, body) = beneath_board(shape, ground, properties);
            let mut step = |way: f64| {
                let before = simulation.data().X_WB[body];
                simulation.step(&positions(&[0.0, way])).unwrap_or_else(|error| panic!("{label}: {error}"));
                let after = simulation.data().X_WB[body];
                let turned = rotation_vector(&(after.rotation * before.rotation.inverse())).y;
                (after.translation.x - before.translation.x, turned)
            };
            (0..4).for_each(|_| _ = step(0.0));
            let count = if turn < 0.5 { 20 } else { 6 };
            let steps = (1..=count).map(|number| step(0.06 * turn * f64::from(number)));
            let (way, turned) = steps.fold((0.0, 0.0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
            let share = way / (0.03 * turn * f64::from(count));
            assert!((share - 1.0).abs() < 1e-2, "{label}: it moved by {share} of half the way of the board");
            way / turned
        });
        ways.sort_by(f64::total_cmp);
        println!("{} {kind}: {ways:?} m/rad", shape.kind());
        assert!(ways[2] / ways[0] < 1.02, "{} {kind}: {ways:?} m/rad", shape.kind());
    }
}

/// A body on the ground beneath a board on a slider, which rests on it.
fn beneath_board(shape: &Shape, ground: &ContactProperties, properties: &ContactProperties) -> (Simulation, BodyIndex) {
    let mut builder = SceneBuilder::new();
    let slab = Shape::Box { size: Vector3::new(3.0, 1.0, 0.1) };
    builder.add_geometry(BodyIndex::WORLD, "ground", at(0.0, 0.0, -0.05), slab, ground).expect("a ground");
    let inertia = SpatialInertia::from_central(0.5, &Vector3::zeros(), &Matrix3::from_diagonal_element(0.1));
    let (lift, board) = (builder.add_body("lift", inertia), builder.add_body("board", inertia));
    for (name, parent, child, axis, z) in
        [("lift", BodyIndex::WORLD, lift, Vector3::z(), 0.0), ("board", lift, board, Vector3::x(), 0.08)]
    {
        let spec = JointSpec {
            axis_F: axis,
            X_PF: at(0.0, 0.0, z),
            limits: JointLimits::NONE,
            ..JointSpec::new(&format!("{name}_joint"), parent, child, JointKind::Prismatic)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        if child == board {
            builder.set_actuator(joint, spring(1e5, f64::INFINITY));
        }
    }
    let slab = Shape::Box { size: Vector3::new(2.0, 0.2, 0.04) };
    builder.add_geometry(board, "board", at(0.0, 0.0, 0.0), slab, ground).expect("a board");
    let body = add_free(&mut builder, 0.2, shape, properties);
    let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
    let simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &[]);
    let turned = match shape {
        Shape::Cylinder { .. } => Rotation::new(Vector3::x() * std::f64::consts::FRAC_PI_2),
        _ => Rotation::identity(),
    };
    let mut state = simulation.state().clone();
    let X_WB = RigidTransform::from_parts(Vector3::new(0.0, 0.0, 0.03).into(), turned);
    simulation.scene().model().set_free_body_pose(&mut state, body, &X_WB);
    let mut simulation = simulation;
    simulation.set_state(state).expect("a state");
    (simulation, body)
}

/// Derivatives of steps in which pressure fields turn far are those of their differences, or an error names a
/// column along which steps jump.
#[test]
fn steps_that_turn_pressure_fields_have_derivatives() {
    let (mut compared, mut smooth, mut jumps) = (0, 0, 0);
    for (kind, properties) in materials(0.8) {
        let object = (&Shape::Box { size: Vector3::new(0.06, 0.05, 0.04) }, 0.02);
        let table = Shape::Cylinder { radius: 0.4, length: 0.1 };
        let (on_table, _) = turntable(&table, &properties, object, 0.1);
        let ball = Shape::Sphere { radius: 0.03 };
        let (in_hand, _) = hand((&ball, &Shape::Box { size: Vector3::new(0.04, 0.05, 0.05) }), &properties, 0.0);
        for (name, mut simulation, command) in
            [("table", on_table, vec![0.0]), ("hand", in_hand, vec![0.0, 0.03, 0.03])]
        {
            for turn in [0.0, 0.0, 0.0, 0.3] {
                let command: Vec<f64> = std::iter::once(turn).chain(command[1..].iter().copied()).collect();
                simulation.step(&positions(&command)).expect("a step");
            }
            let command: Vec<f64> = std::iter::once(0.6).chain(command[1..].iter().copied()).collect();
            let case = Case {
                name: "turns",
                scene: simulation.scene().clone(),
                state: simulation.state().clone(),
                settings: sharp(simulation.settings()),
                command: positions(&command),
                wrenches: Vec::new(),
            };
            let start = case.simulation(case.state.clone());
            let mut derivatives = QuasistaticDerivatives::new(&start).expect("a quasistatic simulation");
            match derivatives.differentiate(&start, &case.command) {
                Ok(()) => {}
                Err(DerivativeError::Jump { .. }) => {
                    println!("{name} {kind}: steps jump");
                    jumps += 1;
                    continue;
                }
                Err(error) => panic!("{name} {kind}: {error}"),
            }
            let n = derivatives.size();
            for column in 0..n {
                let values: Vec<f64> = (0..n).map(|row| derivatives.A(row, column)).collect();
                let one_sided = derivatives.is_one_sided(column);
                let error = error_of(&case, &case.state, &case.command, column, &values, one_sided);
                compared += 1;
                smooth += u32::from(!one_sided);
                // The columns are differences of steps, which settle to 1e-10 m here, over 1e-5.
                let most = if one_sided { 1e-2 } else { 1e-3 };
                assert!(error < most, "{name} {kind}, column {column}, one-sided {one_sided}: {error:.1e}");
            }
        }
    }
    println!("{smooth} of {compared} columns are smooth, {jumps} of 6 steps jump");
}
