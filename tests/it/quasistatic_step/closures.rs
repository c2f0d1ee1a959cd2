//! Loop closures of quasistatic steps: bodies that hang on them follow commands that jump.

use isobar::math::{BodyIndex, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointSpec};
use isobar::scene::{Closure, ClosureKind, SceneBuilder};
use isobar::stepping::{QuasistaticDerivatives, Simulation, StepError, UnactuatedInertia};

use super::{STEPS, bits, positions, simulate, spring};
use crate::worlds::{GRAVITY, at, quasistatic};

/// The largest error of a closure at the end of a step that is taken [m] or [rad].
const CLOSED: f64 = 1e-6;
/// Kinds of inertia that resist the motions that a closure leaves free.
const INERTIAS: [UnactuatedInertia; 3] = [UnactuatedInertia::DRAG, UnactuatedInertia::Mass, UnactuatedInertia::SCALED];
const KINDS: [ClosureKind; 3] = [ClosureKind::Point, ClosureKind::Weld, ClosureKind::Distance(0.2)];

/// A rod of 0.3 kg and 0.4 m along z whose upper end is 0.2 m below its origin's pin or at it.
fn rod() -> SpatialInertia {
    let moments = Vector3::new(0.004, 0.004, 1e-4);
    SpatialInertia::from_central(0.3, &Vector3::zeros(), &isobar::math::Matrix3::from_diagonal(&moments))
}

/// A driven joint from the world, and a free rod that hangs on its link by a closure, 0.3 m from the joint.
fn hanging(joint: JointKind, kind: ClosureKind, limit: f64, (step, inertia): (f64, UnactuatedInertia)) -> Simulation {
    let mut builder = SceneBuilder::new();
    let drive = builder.add_body("drive", rod());
    let spec = JointSpec { axis_F: Vector3::x(), ..JointSpec::new("drive", BodyIndex::WORLD, drive, joint) };
    let spec = if joint == JointKind::Prismatic { spec } else { JointSpec { axis_F: Vector3::y(), ..spec } };
    let index = builder.add_joint(spec).expect("a joint");
    builder.set_actuator(index, spring(1e3, limit));
    let hung = builder.add_body("rod", rod());
    let up = if matches!(kind, ClosureKind::Weld) { RigidTransform::identity() } else { at(0.0, 0.0, 0.2) };
    builder.add_closure(Closure { name: "pin".to_owned(), kind, A: (drive, at(0.3, 0.0, 0.0)), B: (hung, up) });
    let below = match kind {
        ClosureKind::Distance(length) => 0.2 + length,
        ClosureKind::Point => 0.2,
        ClosureKind::Weld => 0.0,
    };
    let place = [(hung, Vector3::new(0.3, 0.0, -below))];
    simulate(builder, Vector3::z() * -GRAVITY, quasistatic(step, inertia), &place)
}

/// The largest error of the closures [m] or [rad].
fn open(simulation: &Simulation) -> f64 {
    let X_WB = &simulation.data().X_WB;
    let closures = simulation.scene().closures().iter();
    let errors = closures.map(|closure| closure.error(&X_WB[closure.A.0], &X_WB[closure.B.0]).largest());
    errors.map(|(open, turned)| open.max(turned)).fold(0.0, f64::max)
}

/// A command that jumps by 0.3 m or 1 rad carries a rod along on its closure, of any kind, in steps of any
/// length, with an effort limit and without: each step ends on the closure. A spring with the period 0.1 h on
/// the masses gives by F beta^2 h^2/(4 pi^2 m), 0.1 m under 300 N at 0.4 s, and one solution with constant
/// Jacobians misses 0.3 m (1 - cos 1) of a turn. Only rods on a rod are refused at times: a double pendulum
/// that swings too fast for 32 parts, or buckles under a jump back. The error names the closure, and the
/// state stays.
#[test]
fn bodies_on_closures_follow_commands_that_jump() {
    let (mut taken, mut refused) = (0, 0);
    for ((joint, reach), kind) in [(JointKind::Prismatic, 0.3), (JointKind::Revolute, 1.0)]
        .into_iter()
        .flat_map(|drive| KINDS.map(|kind| (drive, kind)))
    {
        for (step, inertia) in STEPS.into_iter().flat_map(|step| INERTIAS.map(|inertia| (step, inertia))) {
            for limit in [f64::INFINITY, 50.0] {
                let what = format!("{joint:?}, {kind:?}, h = {step}, {inertia:?}, {limit}");
                let mut simulation = hanging(joint, kind, limit, (step, inertia));
                let (mut worst, mut parts) = (0.0_f64, 0);
                for number in 0..8 {
                    let goal = if number < 4 { reach } else { -reach };
                    let before = bits(&simulation);
                    match simulation.step(&positions(&[goal])) {
                        Ok(report) => parts = parts.max(report.parts),
                        Err(error) => {
                            println!("{what}, step {number}: {error}");
                            assert!(matches!(kind, ClosureKind::Distance(_)), "{what}: {error}");
                            assert!(error.to_string().contains("'pin'"), "{what}: {error}");
                            assert_eq!(before, bits(&simulation), "the last good state stays");
                            refused += 1;
                            break;
                        }
                    }
                    taken += 1;
                    worst = worst.max(open(&simulation));
                }
                assert!(worst <= CLOSED, "{what}: open by {worst:.1e}");
                println!("{what}: {worst:.1e}, {parts} parts, q {:.3}", simulation.state().q[0]);
            }
        }
    }
    println!("{taken} steps, {refused} refused");
    assert!(taken > 1000, "{taken} steps, {refused} refused");
}

/// Rods on closures move smoothly: no column of their derivatives, which are differences of steps, is
/// one-sided. The steps settle in rounds to 1e-10 m, 1e-5 of the reach of the differences: that is no kink.
#[test]
fn rounds_that_close_closures_make_no_kinks() {
    let (mut columns, mut one_sided) = (0, 0);
    for ((joint, reach), kind) in [(JointKind::Prismatic, 0.1), (JointKind::Revolute, 0.3)]
        .into_iter()
        .flat_map(|drive| [ClosureKind::Point, ClosureKind::Weld].map(|kind| (drive, kind)))
    {
        for step in [0.01, 0.02, 0.05, 0.1] {
            let what = format!("{joint:?}, {kind:?}, h = {step}");
            let mut simulation = hanging(joint, kind, f64::INFINITY, (step, UnactuatedInertia::DRAG));
            simulation.step(&positions(&[reach])).unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut derivatives = QuasistaticDerivatives::new(&simulation).expect("a quasistatic simulation");
            let found = derivatives.differentiate(&simulation, &positions(&[1.2 * reach]));
            found.unwrap_or_else(|error| panic!("{what}: {error}"));
            for column in 0..derivatives.size() + derivatives.commands() {
                columns += 1;
                if derivatives.is_one_sided(column) {
                    one_sided += 1;
                    println!("{what}: column {column} is one-sided");
                }
            }
        }
    }
    assert!(columns > 100 && one_sided == 0, "{one_sided} of {columns} columns are one-sided");
}

/// A closure that no motion can close is an error with its name, and the state stays: the rod's distance to a
/// point of the world is 0.5 m too short for the pin that it hangs on.
#[test]
fn a_closure_that_stays_open_is_an_error() {
    let mut builder = SceneBuilder::new();
    let rod = builder.add_body("rod", rod());
    let world = BodyIndex::WORLD;
    let mut add = |name: &str, x: f64, kind: ClosureKind| {
        let (A, B) = ((world, at(x, 0.0, 0.0)), (rod, RigidTransform::identity()));
        builder.add_closure(Closure { name: name.to_owned(), kind, A, B });
    };
    add("pin", 0.0, ClosureKind::Point);
    add("stay", 1.0, ClosureKind::Distance(0.5));
    let settings = quasistatic(0.1, UnactuatedInertia::DRAG);
    let place = [(rod, Vector3::new(0.25, 0.0, 0.0))];
    let mut simulation = simulate(builder, Vector3::zeros(), settings, &place);
    let before = bits(&simulation);
    let error = simulation.step(&positions(&[])).expect_err("no motion closes both");
    assert!(matches!(error, StepError::NotSettled { .. }), "{error}");
    assert!(error.to_string().contains("'pin'") || error.to_string().contains("'stay'"), "{error}");
    assert_eq!(before, bits(&simulation), "the last good state stays");
}
