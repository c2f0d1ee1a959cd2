//! A heap: boxes, spheres, cylinders, capsules and ellipsoids that fall into an open box and come to rest.
//! Processor time of a step, over the second half of the run, and what bounds it. Instead of a heap, plates
//! may lie apart on the floor, fly, or lie in stacks of five.
//!
//! `cargo bench --bench heap -- [BODIES,...] [rigid,soft] [STEP,...] [SECONDS] [heap,plates,flight,stacks]`
//!
//! With `--bodies=FILE` the bodies of the last heap are written to FILE, for the peers (mujoco_heap.py), and
//! their poses at the end to FILE.rigid.end or FILE.soft.end. `--sleep` lets bodies sleep. With `--threads=N`
//! times are those of the clock. `--compare=RUNS` runs alternately with one thread and with those of
//! `--threads`, or two, and compares times of the clock.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(missing_docs)]
#![allow(non_snake_case)]

use std::sync::Arc;

use isobar::math::{BodyIndex, Index, RigidTransform, Vector3};
use isobar::stepping::{DynamicStepping, JointCommand, Simulation, Sleep, StepSettings, Stepping};
use nalgebra::UnitQuaternion;

#[path = "../it/random.rs"]
#[allow(dead_code, reason = "the benchmark needs a part of it")]
mod random;

#[path = "../it/heap_scene.rs"]
#[allow(dead_code, reason = "the benchmark needs a part of it")]
mod heap_scene;
use heap_scene::{Body, Heap, body};

const DENSITY: f64 = 1000.0;

/// The plates of a stack.
const STACK: usize = 5;

/// Plates of 100 mm by 80 mm by 20 mm in a square grid of stacks, the lowest at the height `z` \[m\]. All are
/// apart from each other.
fn plates(count: usize, stack: usize, z: f64) -> Vec<Body> {
    let columns = columns(count, stack);
    let half = Vector3::new(0.05, 0.04, 0.01);
    let mass = 8.0 * DENSITY * half.product();
    let moments = body(0, half).2 * mass;
    let of = |i: usize| {
        let (place, layer) = (i / stack, (i % stack) as f64);
        let (x, y) = (0.13 * (place % columns) as f64, 0.11 * (place / columns) as f64);
        let X_WB = RigidTransform::translation(x, y, z + 0.0201 * layer);
        Body { kind: 0, half, mass, moments, X_WB }
    };
    (0..count).map(of).collect()
}

fn columns(count: usize, stack: usize) -> usize {
    (count as f64 / stack as f64).sqrt().ceil() as usize
}

/// What a run does besides.
#[derive(Clone, Copy)]
struct Options<'a> {
    file: Option<&'a str>,
    threads: usize,
    sleep: bool,
}

fn simulation(kind: &str, count: usize, soft: bool, step: f64, options: Options<'_>) -> (Simulation, Option<Heap>) {
    let (bodies, walls, heap) = if kind == "heap" {
        let heap = Heap::falling(count, count as u64);
        if let Some(file) = options.file {
            write_bodies(file, &heap, |number| heap.bodies[number].X_WB);
        }
        (Vec::new(), heap.walls().to_vec(), Some(heap))
    } else {
        let stack = if kind == "stacks" { STACK } else { 1 };
        let span = 0.13 * columns(count, stack) as f64;
        let floor = ("floor", [0.5 * span, 0.5 * span, -0.05], [2.0 * span, 2.0 * span, 0.1]);
        (plates(count, stack, if kind == "flight" { 100.0 } else { 0.0101 }), vec![floor], None)
    };
    let all = heap.as_ref().map_or(&bodies, |heap| &heap.bodies);
    let (scene, state) = heap_scene::scene(all, &walls, soft, 9.81);
    let sleep = options.sleep.then(Sleep::default);
    let settings = StepSettings {
        step_ns: (1e9 * step).round() as u64,
        threads: options.threads,
        stepping: Stepping::Dynamic(DynamicStepping { sleep, ..DynamicStepping::default() }),
        ..StepSettings::default()
    };
    (Simulation::new(Arc::new(scene), state, settings).unwrap(), heap)
}

/// The width of the box and the height of its walls \[m\], and for each body its shape, half extents, mass,
/// position and quaternion (w first).
fn write_bodies(file: &str, heap: &Heap, pose: impl Fn(usize) -> RigidTransform) {
    let mut text = format!("{},{}\n", heap.width, heap.high);
    for (number, body) in heap.bodies.iter().enumerate() {
        let X_WB = pose(number);
        let (p, q) = (X_WB.translation.vector, UnitQuaternion::from_rotation_matrix(&X_WB.rotation));
        let numbers = [body.half.x, body.half.y, body.half.z, body.mass, p.x, p.y, p.z, q.w, q.i, q.j, q.k];
        let name = ["box", "sphere", "cylinder", "capsule", "ellipsoid"][body.kind];
        text += name;
        numbers.iter().for_each(|x| text += &format!(",{x}"));
        text += "\n";
    }
    std::fs::write(file, text).unwrap();
}

/// Processor time of this thread \[s\]: other processes of the machine do not change it much.
fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn wall_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn part(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

fn run(kind: &str, count: usize, soft: bool, (step, seconds): (f64, f64), options: Options<'_>) {
    let loading = processor_time();
    let (mut simulation, heap) = simulation(kind, count, soft, step, options);
    let loading = processor_time() - loading;
    // The time of one thread, or of the clock.
    let time = if options.threads > 1 { wall_time } else { processor_time };
    let command = JointCommand::default();
    let steps = (seconds / step).round() as usize;
    let (mut times, mut phases, mut unconverged) = (Vec::new(), [0.0; 3], 0);
    let (mut iterations, mut rounds, mut wrong) = (Vec::new(), Vec::new(), 0);
    let mut errors = Vec::new();
    let (mut landing, mut deepest_ever, mut outside) = (Vec::new(), 0.0_f64, 0.0_f64);
    for number in 0..steps {
        let start = time();
        let (report, step_times) = simulation.step_timed(&command, &time).unwrap();
        let took = 1e6 * (time() - start);
        deepest_ever = deepest_ever.max(simulation.penetration_max());
        if let Some(heap) = &heap {
            let center = |i: usize| simulation.data().X_WB[BodyIndex::from_usize(i)].translation.vector;
            outside = outside.max(heap.outside((1..=count).map(center)));
        }
        unconverged += usize::from(!report.solver_converged);
        if number < steps / 2 {
            landing.push(took);
            continue;
        }
        times.push(took);
        iterations.push(f64::from(report.solver_iterations));
        rounds.push(f64::from(report.friction_rounds));
        wrong += usize::from(report.friction_error > 0.01);
        errors.push(simulation.wrong_friction().map_or(0.0, |wrong| wrong.force()));
        let parts = [step_times.motion, step_times.contact, step_times.solver];
        phases.iter_mut().zip(parts).for_each(|(sum, part)| *sum += 1e6 * part / (steps - steps / 2) as f64);
    }
    times.sort_by(f64::total_cmp);
    landing.sort_by(f64::total_cmp);
    iterations.sort_by(f64::total_cmp);
    rounds.sort_by(f64::total_cmp);
    errors.sort_by(f64::total_cmp);
    let fastest = simulation.state().v.chunks(6).map(|v| v[3].hypot(v[4]).hypot(v[5])).fold(0.0, f64::max);
    if let (Some(file), Some(heap)) = (options.file, &heap) {
        let poses = &simulation.data().X_WB;
        let end = format!("{file}.{}.end", if soft { "soft" } else { "rigid" });
        write_bodies(&end, heap, |number| poses[BodyIndex::from_usize(number + 1)]);
    }
    let asleep = (1..=count).filter(|i| simulation.is_asleep(BodyIndex::from_usize(*i))).count();
    let deepest = 1e3 * simulation.penetration_max();
    println!(
        "{kind:6} {count:5} {:5} {:4.0} ms | {:9.0} {:9.0} {:9.0} us | landing {:9.0} {:9.0} us | motion {:6.0} \
         contact {:6.0} solver {:6.0} | iterations {:3.0} {:3.0} rounds {:2.0} {:2.0} | unconverged {unconverged} \
         friction {wrong} ({:.1e} {:.1e} N) | fastest {:.1} \
         mm/s, deepest {deepest:.3} mm, ever {:.3} mm, outside {:.1} mm, asleep {asleep}, made in {loading:.2} s",
        if soft { "soft" } else { "rigid" },
        1e3 * step,
        part(&times, 0.5),
        part(&times, 0.99),
        part(&times, 1.0),
        part(&landing, 0.5),
        part(&landing, 0.99),
        phases[0],
        phases[1],
        phases[2],
        part(&iterations, 0.5),
        part(&iterations, 0.99),
        part(&rounds, 0.5),
        part(&rounds, 0.99),
        part(&errors, 0.5),
        part(&errors, 0.99),
        1e3 * fastest,
        1e3 * deepest_ever,
        1e3 * outside,
    );
}

/// The median times of a step and of its search for contacts and its solves, by the clock \[us\].
fn medians(kind: &str, count: usize, soft: bool, (step, seconds): (f64, f64), options: Options<'_>) -> [f64; 3] {
    let (mut simulation, _) = simulation(kind, count, soft, step, options);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..(seconds / step).round() as usize {
        let start = wall_time();
        let (_, parts) = simulation.step_timed(&JointCommand::default(), &wall_time).unwrap();
        let took = [wall_time() - start, parts.contact, parts.solver];
        times.iter_mut().zip(took).for_each(|(times, took)| times.push(1e6 * took));
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        part(&times, 0.5)
    })
}

/// Compares runs with one thread and with those of `options`, one after the other.
fn compare(kind: &str, count: usize, soft: bool, times: (f64, f64), (options, runs): (Options<'_>, usize)) {
    let threads = options.threads.max(2);
    let mut ratios = [const { Vec::new() }; 3];
    for _ in 0..runs {
        let of = |threads: usize| medians(kind, count, soft, times, Options { threads, ..options });
        let (one, several) = (of(1), of(threads));
        println!("{kind} {count}: step, contact, solver: {one:.0?} us, with {threads} threads {several:.0?} us");
        ratios.iter_mut().zip(one.iter().zip(several)).for_each(|(ratios, (one, several))| ratios.push(one / several));
    }
    let [step, contact, solver] = ratios.map(|mut ratios| {
        ratios.sort_by(f64::total_cmp);
        [part(&ratios, 0.0), part(&ratios, 0.5), part(&ratios, 1.0)]
    });
    println!(
        "{kind} {count}: faster by (least, median, most): step {step:.2?}, contact {contact:.2?}, solver {solver:.2?}"
    );
}

fn main() {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| all.iter().find_map(|argument| argument.strip_prefix(name));
    let options = Options {
        file: value("--bodies="),
        threads: value("--threads=").map_or(1, |threads| threads.parse().unwrap()),
        sleep: all.iter().any(|argument| argument == "--sleep"),
    };
    let arguments: Vec<&String> = all.iter().filter(|argument| !argument.starts_with("--")).collect();
    let list = |i: usize, default: &str| arguments.get(i).map_or(default, |x| x).to_owned();
    let number = |text: &str| text.parse::<f64>().unwrap();
    println!("bodies, step | median, 99th percentile, most | landing: median, 99th percentile | parts of the mean");
    for kind in list(4, "heap").split(',') {
        for count in list(0, "10,40,100").split(',') {
            for material in list(1, "rigid,soft").split(',') {
                for step in list(2, "1e-3").split(',') {
                    let times = (number(step), number(&list(3, "2")));
                    let (count, soft) = (count.parse().unwrap(), material == "soft");
                    match value("--compare=") {
                        Some(runs) => compare(kind, count, soft, times, (options, runs.parse().unwrap())),
                        None => run(kind, count, soft, times, options),
                    }
                }
            }
        }
    }
}
