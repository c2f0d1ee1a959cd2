//! Pressure fields: a quasistatic step ends in equilibrium with them.

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, JointPaths, Snapshot, UnactuatedInertia};

use super::{INERTIAS, STEPS, WEAK_DRAG, add_box, add_finger, add_ground, coulomb, positions, rigid, simulate, spring};
use crate::worlds::{GRAVITY, at, compliant, quasistatic};

/// The iteration on the pressure fields ends below 1e-8 m; times their stiffness, up to 2e5 N/m [N].
const FORCE_TOLERANCE: f64 = 2e-3;

/// A soft pad is pressed against a wall, from afar and far into it: the spring's force is that of the field
/// at the end of the step, for any step, and that of the closed form F = (E/H) (a b d - (a + b) d^2 + 4/3
/// d^3), H half the pad's thickness.
#[test]
fn a_pad_presses_with_the_spring_of_its_finger() {
    for step in STEPS {
        for (start, command) in [(0.0, 0.2), (0.089, 0.095), (0.0, 0.091), (0.095, 0.096)] {
            let mut builder = SceneBuilder::new();
            let wall = Shape::Box { size: Vector3::new(0.1, 0.4, 0.4) };
            builder.add_geometry(BodyIndex::WORLD, "wall", at(0.15, 0.0, 0.0), wall, &rigid(0.5)).expect("a wall");
            let pad = (Shape::Box { size: Vector3::new(0.02, 0.04, 0.04) }, &compliant(1e6, 0.0, 0.5));
            add_finger(
                &mut builder,
                "finger",
                (Vector3::zeros(), Vector3::x()),
                JointLimits::NONE,
                spring(1000.0, f64::INFINITY),
                pad,
            );
            let mut simulation = simulate(builder, Vector3::zeros(), quasistatic(step, UnactuatedInertia::None), &[]);
            for position in [start, command, command] {
                let report = simulation.step(&positions(&[position])).expect("a step");
                assert!(report.solver_converged, "h = {step}, to {command}: {report:?}");
            }
            let mut snapshot = Snapshot::default();
            simulation.snapshot_into(&mut snapshot);
            let patch = snapshot.contact_patches().first().expect("a patch");
            let faces = &patch.faces;
            let field: f64 =
                faces.area.iter().zip(&faces.pressure).zip(&faces.normal_W).map(|((a, p), n)| a * p * n.x).sum();
            let pressed = snapshot.joint_effort.as_slice()[0];
            assert!(
                (field.abs() - pressed).abs() < FORCE_TOLERANCE,
                "h = {step}, to {command}: {field} N for {pressed} N"
            );
            assert!(
                (patch.F_BC_W.f.x.abs() - pressed).abs() < FORCE_TOLERANCE,
                "{} N for {pressed} N",
                patch.F_BC_W.f.x
            );
            let d = snapshot.joint_position.as_slice()[0] + 0.01 - 0.1;
            let closed = 1e6 / 0.01 * (0.04 * 0.04 * d - 0.08 * d * d + 4.0 / 3.0 * d * d * d);
            assert!((closed - pressed).abs() < 1e-3 * pressed, "h = {step}, to {command}: {closed} N for {pressed} N");
        }
    }
}

/// Two soft pads hold a box in the air, at 20 N where 2 mu N > m g: each presses with K times the lead of its
/// command, and the box does not move.
#[test]
fn two_pads_hold_a_box() {
    for (step, inertia) in STEPS.into_iter().flat_map(|step| INERTIAS.map(|inertia| (step, inertia))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let pad = (Shape::Box { size: Vector3::new(0.02, 0.04, 0.04) }, &compliant(1e6, 0.0, 0.8));
        let limits = JointLimits { lower: -1.0, upper: 1.0, ..JointLimits::NONE };
        let left = add_lift_and_pads(&mut builder, limits, pad);
        let body = add_box(&mut builder, "box", Vector3::repeat(0.06), 0.3, &rigid(0.8));
        let place = [(body, Vector3::new(0.0, 0.0, 0.03))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &place);
        let mut snapshot = Snapshot::default();
        // Close on the box, squeeze, lift by 5 cm within a second, hold.
        let (speed, squeeze) = (0.05, 0.02);
        let mut time = 0.0;
        while time < 3.0 {
            time += step;
            let close = f64::min(0.05 * time, squeeze + 0.005);
            let lift = ((time - 1.0) * speed).clamp(0.0, 0.05);
            let command = positions(&[lift, close, -close]);
            let report = simulation.step(&command).unwrap_or_else(|error| panic!("h = {step}, {inertia:?}: {error:?}"));
            assert!(report.solver_converged, "h = {step}, {inertia:?}, t = {time}: {report:?}");
        }
        simulation.snapshot_into(&mut snapshot);
        let ahead = 0.025 - snapshot.joint_position.as_slice()[1];
        let pressed = 1000.0 * ahead;
        let force = snapshot.F_BBo_W[left].f.x;
        assert!((force + pressed).abs() < FORCE_TOLERANCE * 10.0, "h = {step}, {inertia:?}: {force} N for {pressed} N");
        let z = simulation.data().X_WB[body].translation.vector.z;
        assert!((z - 0.08).abs() < 2e-4, "h = {step}, {inertia:?}: the box is at {z}");
        let balance = snapshot.F_BBo_W[body].f - Vector3::z() * (0.3 * GRAVITY);
        assert!(balance.norm() < FORCE_TOLERANCE * 10.0, "h = {step}, {inertia:?}: {balance:?}");
    }
}

/// A carriage along z with two pads along x, 5 mm away from a box of 60 mm.
fn add_lift_and_pads(
    builder: &mut SceneBuilder,
    limits: JointLimits,
    (shape, properties): (Shape, &isobar::contact::ContactProperties),
) -> BodyIndex {
    use isobar::math::{Matrix3, SpatialInertia};
    use isobar::multibody::{JointKind, JointSpec};
    let inertia = SpatialInertia::from_central(0.1, &Vector3::zeros(), &(Matrix3::identity() * 1e-4));
    let lift = builder.add_body("lift", inertia);
    let spec = JointSpec { limits, ..JointSpec::new("lift_joint", BodyIndex::WORLD, lift, JointKind::Prismatic) };
    let joint = builder.add_joint(spec).expect("a joint");
    let actuator =
        |stiffness| isobar::scene::Actuator { gravity_compensation: true, ..spring(stiffness, f64::INFINITY) };
    builder.set_actuator(joint, actuator(1e5));
    let mut bodies = Vec::new();
    for (name, x) in [("left", -0.045), ("right", 0.045)] {
        let body = builder.add_body(name, inertia);
        let spec = JointSpec {
            axis_F: Vector3::x(),
            X_PF: at(x, 0.0, 0.03),
            limits,
            ..JointSpec::new(&format!("{name}_joint"), lift, body, JointKind::Prismatic)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        builder.set_actuator(joint, actuator(1000.0));
        builder.add_geometry(body, "pad", at(0.0, 0.0, 0.0), shape.clone(), properties).expect("a pad");
        builder.exclude_contact(BodyIndex::WORLD, body);
        bodies.push(body);
    }
    bodies[0]
}

/// A soft box above a rigid ground, without inertia: no field is reached at first, and the step ends where
/// the field carries it.
#[test]
fn a_soft_box_sinks_until_its_field_carries_it() {
    for (step, height) in STEPS.into_iter().flat_map(|step| [0.0, 0.004, 0.05].map(|height| (step, height))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let body = add_box(&mut builder, "box", Vector3::repeat(0.1), 0.5, &compliant(1e6, 0.0, 0.5));
        let place = [(body, Vector3::new(0.0, 0.0, 0.05 + height))];
        let settings = quasistatic(step, UnactuatedInertia::None);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        for _ in 0..2 {
            simulation.step(&JointCommand::default()).unwrap_or_else(|error| panic!("h = {step}, {height}: {error}"));
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let force = snapshot.F_BBo_W[body].f;
        assert!((force - Vector3::z() * (0.5 * GRAVITY)).norm() < FORCE_TOLERANCE, "h = {step}, {height}: {force:?}");
    }
}

/// A block that a finger pushes along the floor needs mu m g and the drag m v/T, and no more: with a pressure
/// field 5 m away, and with a soft finger, whose field moves along with the block.
#[test]
fn fields_hold_no_body_that_they_do_not_touch() {
    let (mass, friction, speed) = (0.5, 0.4, 0.02);
    for (step, (soft_finger, distant_ball)) in
        [0.1, 0.01].into_iter().flat_map(|step| [(false, false), (false, true), (true, false)].map(|kind| (step, kind)))
    {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(friction));
        let tip = if soft_finger { compliant(1e6, 0.0, 0.0) } else { rigid(0.0) };
        let tip = (Shape::Sphere { radius: 0.01 }, &tip);
        let from = (Vector3::new(-0.04, 0.0, 0.02), Vector3::x());
        let finger = add_finger(&mut builder, "finger", from, JointLimits::NONE, spring(1e4, f64::INFINITY), tip);
        builder.exclude_contact(BodyIndex::WORLD, finger);
        let block = add_box(&mut builder, "block", Vector3::new(0.06, 0.06, 0.04), mass, &rigid(friction));
        if distant_ball {
            let ball = Shape::Sphere { radius: 0.05 };
            let soft = compliant(1e6, 0.0, 0.5);
            builder.add_geometry(BodyIndex::WORLD, "ball", at(5.0, 0.0, 0.1), ball, &soft).expect("a ball");
        }
        let settings = coulomb(quasistatic(step, WEAK_DRAG));
        let place = [(block, Vector3::new(0.0, 0.0, 0.02))];
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        for number in 1..=(1.0 / step) as u32 {
            let reach = speed * step * f64::from(number);
            simulation.step(&positions(&[reach])).unwrap_or_else(|error| panic!("h = {step}, {number}: {error}"));
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let force = -snapshot.F_BBo_W[finger].f.x;
        let law = friction * mass * GRAVITY + mass * speed / 10.0;
        // The balance of a step and its friction are accepted at 4e-7 and 1e-6 of the largest force. The
        // motion has settled: the finger lags by a constant.
        assert!((force - law).abs() < 1e-5 * law, "h = {step}, {soft_finger}, {distant_ball}: {force} N, not {law}");
    }
}

/// A soft box that falls from any height with the drag ends on its field, which carries it.
#[test]
fn a_soft_box_that_falls_far_is_carried_by_its_field() {
    for (step, height) in STEPS.into_iter().flat_map(|step| [0.3, 3.0].map(|height| (step, height))) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let body = add_box(&mut builder, "box", Vector3::repeat(0.1), 0.5, &compliant(1e6, 0.0, 0.5));
        let place = [(body, Vector3::new(0.0, 0.0, 0.05 + height))];
        let settings = quasistatic(step, WEAK_DRAG);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        // It falls by g T h in a step: 1 m in 0.01 s.
        for number in 0..10 {
            let report = simulation
                .step(&JointCommand::default())
                .unwrap_or_else(|error| panic!("h = {step}, {height} m, step {number}: {error}"));
            // From 0.3 m in 0.2 s, the field still moves after the last linearisation, which Anderson's
            // method finds, and balances where it is. Without either, the step takes four parts.
            if (step, height) == (0.2, 0.3) {
                assert_eq!(report.parts, 1, "step {number}: {report:?}");
            }
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let force = snapshot.F_BBo_W[body].f;
        assert!((force - Vector3::z() * (0.5 * GRAVITY)).norm() < FORCE_TOLERANCE, "h = {step}, {height}: {force:?}");
    }
}

/// In quasistatic equilibrium, the contact wrench on a body balances the actuators of the joints that carry
/// it, with lever arms at the poses of this equilibrium: a fingertip on a turning arm is pushed along the
/// ground by 10 mm a step, as a soft pad and as a rigid box. A lever arm from the start of the step would be
/// wrong by 10 mm.
///
/// Tolerance: 1e-8 m of unsettled fields or 1e-8 of the loads change the torque by less than 1e-5 N m.
#[test]
fn contact_wrenches_balance_the_actuators() {
    for (step, properties) in STEPS.into_iter().flat_map(|step| [(step, compliant(1e6, 0.0, 0.5)), (step, rigid(0.5))])
    {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let inertia = SpatialInertia::from_central(1e-3, &Vector3::zeros(), &(Matrix3::identity() * 1e-6));
        let (cart, arm) = (builder.add_body("cart", inertia), builder.add_body("arm", inertia));
        let slide = JointSpec {
            axis_F: Vector3::x(),
            X_PF: at(0.0, 0.0, 0.03),
            ..JointSpec::new("slide", BodyIndex::WORLD, cart, JointKind::Prismatic)
        };
        let turn = JointSpec { axis_F: Vector3::y(), ..JointSpec::new("turn", cart, arm, JointKind::Revolute) };
        for (joint, stiffness) in [(slide, 1e4), (turn, 20.0)] {
            let joint = builder.add_joint(joint).expect("a joint");
            builder.set_actuator(joint, spring(stiffness, f64::INFINITY));
        }
        let tip = Shape::Box { size: Vector3::new(0.04, 0.04, 0.04) };
        builder.add_geometry(arm, "tip", at(0.2, 0.0, 0.0), tip, &properties).expect("a tip");
        let mut simulation = simulate(builder, Vector3::zeros(), quasistatic(step, UnactuatedInertia::None), &[]);
        let scene = simulation.scene().clone();
        let paths = JointPaths::new(scene.model());
        let (mut snapshot, mut efforts) = (Snapshot::default(), Vec::new());
        for number in 1..6 {
            simulation.step(&positions(&[0.01 * f64::from(number), 0.1 + 0.02 * f64::from(number)])).expect("a step");
            simulation.snapshot_into(&mut snapshot);
            paths.contact_efforts(&scene, &snapshot.X_WB, &snapshot.F_BBo_W, &mut efforts);
            assert!(efforts[1] < -0.3, "step {number}: the tip is pressed with {} N m", efforts[1]);
            for (contact, actuator) in efforts.iter().zip(snapshot.joint_effort.iter()) {
                let what = format!("h = {step}, step {number}: {contact} for {actuator} N, N m");
                assert!((contact + actuator).abs() < 1e-5 * (1.0 + actuator.abs()), "{what}");
            }
        }
    }
}

/// A thin plate that is driven by 0.1 m in one step is stopped by a soft plate of 4 mm on its way, both 0.5 m
/// wide: it is held before the middle of the soft one, pressed with the spring of its slider.
#[test]
fn a_plate_does_not_pass_through_a_thin_plate() {
    for step in STEPS {
        let mut builder = SceneBuilder::new();
        let plate = || Shape::Box { size: Vector3::new(0.5, 0.5, 0.004) };
        let ground = at(0.0, 0.0, 0.0);
        builder.add_geometry(BodyIndex::WORLD, "soft", ground, plate(), &compliant(1e6, 0.0, 0.5)).expect("a plate");
        let down = (Vector3::new(0.0, 0.0, 0.05), -Vector3::z());
        let tip = (plate(), &rigid(0.5));
        add_finger(&mut builder, "finger", down, JointLimits::NONE, spring(1000.0, f64::INFINITY), tip);
        let mut simulation = simulate(builder, Vector3::zeros(), quasistatic(step, UnactuatedInertia::None), &[]);
        simulation.step(&positions(&[0.1])).expect("a step");
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let (at, effort) = (snapshot.joint_position.as_slice()[0], snapshot.joint_effort.as_slice()[0]);
        assert!((0.046..0.048).contains(&at), "h = {step}: the plate is {at} m on its way");
        assert!((effort - 1000.0 * (0.1 - at)).abs() < FORCE_TOLERANCE, "h = {step}: {effort} N");
    }
}

/// A compliant post stops a link at 0.2 rad for any command, and the link pushes a rigid cube on its way: the
/// cube ends at the link. Its contact uses the Jacobians at the middle of this motion. Those of the motion
/// without the post would leave it 12 to 70 mm inside the link. A turn of 0.2 rad leaves an error of its
/// third power, a twenty-fourth times the lever of 0.46 m.
#[test]
fn rigid_contact_follows_the_motion_that_a_field_stops() {
    for command in [0.3, 1.0, 2.5] {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.3));
        let turns = Matrix3::from_diagonal(&Vector3::new(1e-3, 2e-2, 2e-2));
        let link = builder.add_body("link", SpatialInertia::from_central(1.0, &(Vector3::x() * 0.25), &turns));
        let spec = JointSpec {
            axis_F: Vector3::z(),
            X_PF: at(0.0, 0.0, 0.03),
            limits: JointLimits::NONE,
            ..JointSpec::new("joint", BodyIndex::WORLD, link, JointKind::Revolute)
        };
        let joint = builder.add_joint(spec).expect("a joint");
        builder.set_actuator(joint, spring(100.0, 20.0));
        let beam = Shape::Box { size: Vector3::new(0.5, 0.04, 0.04) };
        builder.add_geometry(link, "beam", at(0.25, 0.0, 0.0), beam, &rigid(0.3)).expect("a beam");
        let (sin, cos) = 0.2_f64.sin_cos();
        let turned = isobar::math::Rotation::new(Vector3::z() * 0.2);
        let place = Vector3::new(0.35 * cos - 0.05 * sin, 0.35 * sin + 0.05 * cos, 0.03);
        let place = isobar::math::RigidTransform::from_parts(place.into(), turned);
        let post = Shape::Box { size: Vector3::new(0.06, 0.06, 0.3) };
        builder.add_geometry(BodyIndex::WORLD, "post", place, post, &compliant(1e7, 0.0, 0.3)).expect("a post");
        let cube = add_box(&mut builder, "cube", Vector3::repeat(0.06), 0.3, &rigid(0.3));
        let start = [(cube, Vector3::new(0.46, 0.0501, 0.03))];
        let settings = coulomb(quasistatic(0.1, UnactuatedInertia::DRAG));
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &start);
        simulation.step(&positions(&[command])).expect("a step");
        let angle = simulation.state().q[0];
        assert!((angle - 0.2).abs() < 1e-3, "{command}: {angle} rad");
        let p = simulation.data().X_WB[cube].translation.vector;
        let beside = p.y * angle.cos() - p.x * angle.sin();
        assert!((beside - 0.05).abs() < 3e-4, "{command}: {beside} m from the axis of the link");
    }
}

/// A cube of 0.1 g sinks by 5 nm into a stiff field: its pressures carry its weight. It starts at twice this
/// depth, or 10 nm or 1 mm above its equilibrium, from where the last linearisation moves the field by less
/// than the length that counts as settled for heavy bodies. A block of 2 t elsewhere changes nothing.
#[test]
fn the_pressures_under_a_light_cube_carry_its_weight() {
    let (side, mass, modulus) = (0.01, 1e-4, 1e7);
    let weight = mass * GRAVITY;
    let depth = weight * 0.5 * side / (modulus * side * side);
    for (above, with_block) in [-depth, 1e-8, 1e-3].into_iter().flat_map(|above| [(above, false), (above, true)]) {
        let mut builder = SceneBuilder::new();
        add_ground(&mut builder, &rigid(0.5));
        let body = add_box(&mut builder, "cube", Vector3::repeat(side), mass, &compliant(modulus, 0.0, 0.5));
        let mut place = vec![(body, Vector3::z() * (0.5 * side - depth + above))];
        if with_block {
            let block = add_box(&mut builder, "block", Vector3::repeat(1.0), 2000.0, &rigid(0.5));
            place.push((block, Vector3::new(0.0, 5.0, 0.5)));
        }
        let settings = quasistatic(0.01, UnactuatedInertia::DRAG);
        let mut simulation = simulate(builder, Vector3::z() * -GRAVITY, settings, &place);
        let what = format!("{above} m above, with a block {with_block}");
        simulation.step(&JointCommand::default()).unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let patches = snapshot.contact_patches().iter();
        let pressed = patches.flat_map(|patch| patch.faces.area.iter().zip(&patch.faces.pressure));
        let carried: f64 = pressed.map(|(area, pressure)| area * pressure).sum();
        // The drag of the way down takes its part.
        let load = weight - mass * above.max(0.0) / settings.step();
        // The field may still move by a thousandth of its depth; the force is exact to the square of that.
        assert!((carried - load).abs() < 1e-5 * load, "{what}: {carried} N for {load} N");
    }
}
