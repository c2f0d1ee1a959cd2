//! Laws of heaps: nothing passes through the box, no energy appears, and the bodies come to rest. Threads and
//! bodies that sleep.

use std::sync::Arc;

use isobar::math::{BodyIndex, Index, SpatialForce, Vector3};
use isobar::multibody::energy;
use isobar::stepping::{DynamicStepping, JointCommand, Simulation, Sleep, StepSettings, Stepping};

use crate::heap_scene::{Body, Heap, RADIUS, body, scene};
use crate::worlds::{GRAVITY, at};

/// What happened to a heap.
#[derive(Debug, Default)]
struct Fallen {
    /// The largest rise of the energy above its least value before \[J\].
    rise: f64,
    /// The deepest overlap of all steps \[m\].
    deepest: f64,
    /// The distance by which a centre was outside of the box \[m\].
    outside: f64,
    /// The largest speed of a centre at the end, beyond that with which a round body rolls [m/s].
    fastest: f64,
    unconverged: usize,
}

fn simulation(bodies: &[Body], walls: &[(&str, [f64; 3], [f64; 3])], soft: bool, settings: StepSettings) -> Simulation {
    let (scene, state) = scene(bodies, walls, soft, GRAVITY);
    Simulation::new(Arc::new(scene), state, settings).expect("a simulation")
}

fn fall(heap: &Heap, soft: bool, (step_ns, steps): (u64, usize)) -> Fallen {
    let settings = StepSettings { step_ns, ..StepSettings::default() };
    let mut simulation = simulation(&heap.bodies, &heap.walls(), soft, settings);
    let total =
        |simulation: &Simulation| energy(simulation.scene().model(), simulation.data(), &simulation.state().v).total();
    let mut fallen = Fallen::default();
    let mut least = total(&simulation);
    for _ in 0..steps {
        let report = simulation.step(&JointCommand::default()).expect("a step");
        let now = total(&simulation);
        fallen.rise = fallen.rise.max(now - least);
        least = least.min(now);
        fallen.deepest = fallen.deepest.max(simulation.penetration_max());
        fallen.unconverged += usize::from(!report.solver_converged);
        let centres = (1..=heap.bodies.len()).map(|i| simulation.data().X_WB[BodyIndex::from_usize(i)].translation);
        fallen.outside = fallen.outside.max(heap.outside(centres.map(|p| p.vector)));
    }
    let speeds = simulation.state().v.chunks(6).zip(&heap.bodies).map(|(v, body)| {
        let (turn, speed) = (v[0].hypot(v[1]).hypot(v[2]), v[3].hypot(v[4]).hypot(v[5]));
        let rolls = if body.kind == 0 { 0.0 } else { turn * 2.0 * body.half.max() };
        (speed - rolls).max(0.0)
    });
    fallen.fastest = speeds.fold(0.0, f64::max);
    fallen
}

/// Heaps that land and come to rest. Nothing passes the box and all steps converge. At the end only friction
/// creeps, and round bodies may roll: the slip of a contact that carries the part r of its friction is
/// r/sqrt(1 - r^2) times the stiction tolerance, which is a hundred times for a contact at 0.99995 of its
/// limit. The energy does not rise: rigid contact stores none, and the tolerance of the solver is 1e-7 of the
/// momentum. Compliant contact returns a part of what it has stored, less than 1 % of the energy of the fall.
#[test]
fn heaps_stay_in_their_box_and_come_to_rest() {
    for (seed, soft, step) in
        [(0, false, (2_000_000, 1500)), (1, false, (5_000_000, 600)), (2, true, (2_000_000, 1500))]
    {
        let heap = Heap::falling(20, seed);
        let lost: f64 = heap.bodies.iter().map(|body| body.mass * GRAVITY * body.X_WB.translation.z).sum();
        let fallen = fall(&heap, soft, step);
        assert_eq!((fallen.outside, fallen.unconverged), (0.0, 0), "{seed}: {fallen:?}");
        let most = if soft { 1e-2 } else { 1e-6 } * lost;
        assert!(fallen.rise < most, "{seed}: {fallen:?}: more than {most} J");
        assert!(fallen.fastest < 1e-4, "{seed}: {fallen:?}");
        assert!(fallen.deepest < 0.5 * RADIUS, "{seed}: {fallen:?}");
    }
}

/// Any number of threads gives the same bits.
#[test]
fn threads_change_no_bit_of_a_heap() {
    for soft in [false, true] {
        let heap = Heap::falling(20, 3);
        let run = |threads: usize| {
            let settings = StepSettings { step_ns: 2_000_000, threads, ..StepSettings::default() };
            let mut simulation = simulation(&heap.bodies, &heap.walls(), soft, settings);
            let mut states = Vec::new();
            for _ in 0..220 {
                let report = simulation.step(&JointCommand::default()).expect("a step");
                states.push((simulation.state().clone(), report));
            }
            let wrenches: Vec<SpatialForce> = simulation.body_wrenches().iter().copied().collect();
            (states, wrenches, simulation.save())
        };
        let (one, wrenches, saved) = run(1);
        assert!(one.last().is_some_and(|(_, report)| report.faces > 20), "{soft}");
        for threads in [2, 4] {
            let (states, forces, checkpoint) = run(threads);
            let first = states.iter().zip(&one).position(|(a, b)| a != b);
            assert_eq!(first, None, "{threads} threads, soft: {soft}: the first step that differs");
            assert_eq!(forces, wrenches);
            // A run may be continued with another number of threads.
            let mut continued = simulation(&heap.bodies, &heap.walls(), soft, settings_of(1));
            continued.restore(&checkpoint).expect("a checkpoint of other threads");
            assert_eq!(checkpoint.to_bytes(), saved.to_bytes());
        }
    }
}

fn settings_of(threads: usize) -> StepSettings {
    StepSettings { step_ns: 2_000_000, threads, ..StepSettings::default() }
}

const FLOOR: (&str, [f64; 3], [f64; 3]) = ("floor", [0.0, 0.0, -0.05], [2.0, 2.0, 0.1]);

/// A box of 40 mm, or a ball.
fn brick(kind: usize, x: f64, z: f64) -> Body {
    let half = Vector3::repeat(RADIUS);
    let (_, volume, moments) = body(kind, half);
    let mass = 1000.0 * volume;
    Body { kind, half, mass, moments: mass * moments, X_WB: at(x, 0.0, z) }
}

/// Two stacked boxes and a box beside them sleep after 0.2 s. A ball that falls on the stack wakes it, and
/// not the box beside, which a force wakes later.
#[test]
fn bodies_sleep_until_something_reaches_them() {
    for soft in [false, true] {
        let bodies = [brick(0, 0.0, 0.02), brick(0, 0.0, 0.06), brick(0, 0.5, 0.02), brick(1, 0.0, 0.9)];
        let run = |sleep: Option<Sleep>| {
            let stepping = Stepping::Dynamic(DynamicStepping { sleep, ..DynamicStepping::default() });
            simulation(&bodies, &[FLOOR], soft, StepSettings { stepping, ..StepSettings::default() })
        };
        let (mut awake, mut sleeper) = (run(None), run(Some(Sleep { speed: 1e-3, time: 0.2 })));
        let command = JointCommand::default();
        let asleep = |simulation: &Simulation| [1, 2, 3, 4].map(|i| simulation.is_asleep(BodyIndex::from_usize(i)));
        let mut taken = 0;
        let step = |simulation: &mut Simulation| simulation.step(&command).expect("a step");
        // The same bits until the first body sleeps.
        while asleep(&sleeper) == [false; 4] && taken < 400 {
            assert_eq!(sleeper.state(), awake.state(), "{taken}");
            step(&mut sleeper);
            step(&mut awake);
            taken += 1;
        }
        assert!((200..340).contains(&taken), "soft: {soft}: {taken} steps");
        while asleep(&sleeper)[..3] != [true; 3] && taken < 400 {
            step(&mut sleeper);
            taken += 1;
        }
        // At rest nothing moves, and the contacts keep their forces.
        assert_eq!(asleep(&sleeper), [true, true, true, false]);
        let (before, weight) = (sleeper.state().clone(), bodies[0].mass * GRAVITY);
        let checkpoint = sleeper.save();
        for _ in 0..50 {
            step(&mut sleeper);
        }
        assert_eq!((&sleeper.state().q[..21], &sleeper.state().v[..18]), (&before.q[..21], &[0.0; 18][..]));
        for body in [1, 2, 3] {
            let force = sleeper.body_wrenches()[BodyIndex::from_usize(body)].f.z;
            assert!((force / weight - 1.0).abs() < 0.02, "soft: {soft}: {force} instead of {weight}");
        }
        // A run that continues from a checkpoint has the same bits.
        let mut continued = run(Some(Sleep { speed: 1e-3, time: 0.2 }));
        continued.restore(&checkpoint).expect("a checkpoint");
        for _ in 0..50 {
            step(&mut continued);
        }
        assert_eq!(continued.state(), sleeper.state());
        let force = continued.body_wrenches()[BodyIndex::from_usize(1)].f.z;
        assert!((force / weight - 1.0).abs() < 0.02, "soft: {soft}: {force} after a checkpoint");
        // The ball, which falls for 0.41 s, hits the stack
        for _ in 0..250 {
            step(&mut sleeper);
            step(&mut continued);
        }
        assert_eq!(continued.state(), sleeper.state(), "after the hit");
        assert_ne!(sleeper.state().q[..14], before.q[..14], "the stack moves");
        assert_eq!(asleep(&sleeper)[..3], [false, false, true]);
        let push = SpatialForce { tau: Vector3::zeros(), f: Vector3::new(1.0, 0.0, 0.0) };
        sleeper.set_external_wrench(BodyIndex::from_usize(3), push).expect("a wrench");
        for _ in 0..10 {
            step(&mut sleeper);
        }
        assert!(sleeper.state().v[15] > 1e-3, "the force moves the box: {}", sleeper.state().v[15]);
        sleeper.set_gravity(Vector3::zeros()).expect("gravity");
        step(&mut sleeper);
        assert_eq!(asleep(&sleeper), [false; 4]);
    }
}
