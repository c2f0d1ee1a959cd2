//! Laws of heaps: nothing passes through the box, no energy appears, and the bodies come to rest. Threads and
//! bodies that sleep.

use std::sync::Arc;

use isobar::math::{BodyIndex, Index, SpatialForce, Vector3};
use isobar::multibody::energy;
use isobar::stepping::{
    ContactPatch, DynamicStepping, JointCommand, Simulation, Sleep, Snapshot, StepSettings, Stepping,
};

use crate::heap_scene::{Body, Heap, MODULUS, RADIUS, body, scene};
use crate::worlds::{GRAVITY, at};

/// What happened to a heap.
#[derive(Debug, Default)]
struct Fallen {
    /// The largest rise of the energy above the least value before of it and what contacts have stored \[J\].
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
    let (mut least, mut snapshot) = (total(&simulation), Snapshot::default());
    for _ in 0..steps {
        let report = simulation.step(&JointCommand::default()).expect("a step");
        let now = total(&simulation);
        fallen.rise = fallen.rise.max(now - least);
        simulation.snapshot_into(&mut snapshot);
        least = least.min(now + stored(heap, &snapshot));
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

/// A bound on the energy that the contacts of a heap have stored \[J\]. The pressure p = E d/h at the depth d
/// below a surface has taken the work p^2 h/(2 E) by area, and h is at most half of the largest extent.
fn stored(heap: &Heap, snapshot: &Snapshot) -> f64 {
    let half = |body: BodyIndex| {
        let body = body.to_usize().checked_sub(1).map(|number| &heap.bodies[number]);
        body.map_or(0.0, |body| body.half.max() + if body.kind == 3 { body.half.x } else { 0.0 })
    };
    let of_patch = |patch: &ContactPatch| {
        let h = half(patch.body_A) + half(patch.body_B);
        patch
            .faces
            .area
            .iter()
            .zip(&patch.faces.pressure)
            .map(|(area, p)| area * p * p * h / (2.0 * MODULUS))
            .sum::<f64>()
    };
    snapshot.contact_patches().iter().map(of_patch).sum()
}

/// Heaps that land and come to rest. Nothing passes the box and all steps converge. At the end only friction
/// creeps, and round bodies may roll: the slip of a contact that carries the part r of its friction is
/// r/sqrt(1 - r^2) times the stiction tolerance, which is a hundred times for a contact at 0.99995 of its
/// limit. The energy does not rise by more than contacts have stored. Rigid contact stores none, and the
/// tolerance of the solver is 1e-7 of the momentum, so that its error of the energy is far below 1e-6.
#[test]
fn heaps_stay_in_their_box_and_come_to_rest() {
    for (seed, soft, step) in
        [(0, false, (2_000_000, 1500)), (1, false, (5_000_000, 600)), (2, true, (2_000_000, 1500))]
    {
        let heap = Heap::falling(20, seed);
        let lost: f64 = heap.bodies.iter().map(|body| body.mass * GRAVITY * body.X_WB.translation.z).sum();
        let fallen = fall(&heap, soft, step);
        assert_eq!((fallen.outside, fallen.unconverged), (0.0, 0), "{seed}: {fallen:?}");
        let most = 1e-6 * lost;
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
            (states, wrenches, simulation)
        };
        let next = |simulation: &mut Simulation| {
            for _ in 0..20 {
                simulation.step(&JointCommand::default()).expect("a step");
            }
            simulation.state().clone()
        };
        let (one, wrenches, mut of_one) = run(1);
        let saved = of_one.save();
        let after = next(&mut of_one);
        assert!(one.last().is_some_and(|(_, report)| report.faces > 20), "{soft}");
        for threads in [2, 4] {
            let (states, forces, mut of_several) = run(threads);
            let checkpoint = of_several.save();
            let first = states.iter().zip(&one).position(|(a, b)| a != b);
            assert_eq!(first, None, "{threads} threads, soft: {soft}: the first step that differs");
            assert_eq!(forces, wrenches);
            // A run may be continued with another number of threads.
            let mut continued = simulation(&heap.bodies, &heap.walls(), soft, settings_of(1));
            continued.restore(&checkpoint).expect("a checkpoint of other threads");
            assert_eq!(checkpoint.to_bytes(), saved.to_bytes());
            assert_eq!(next(&mut of_several), after, "{threads} threads, soft: {soft}");
            assert_eq!(next(&mut continued), after, "{threads} threads, then one, soft: {soft}");
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
        // A change of gravity wakes the box of the other run, which no force has woken
        assert_eq!(asleep(&continued)[..3], [false, false, true]);
        continued.set_gravity(Vector3::new(0.0, 0.0, GRAVITY)).expect("gravity");
        for _ in 0..10 {
            step(&mut continued);
        }
        assert_eq!(asleep(&continued), [false; 4]);
        assert!(continued.state().v[17] > 0.09, "the box rises: {}", continued.state().v[17]);
    }
}
