//! A heap: boxes, spheres, cylinders, capsules and ellipsoids that fall into an open box and come to rest.
//! Processor time of a step, over the second half of the run, and what bounds it. Instead of a heap, plates
//! may lie apart on the floor, or fly.
//!
//! `cargo bench --bench heap -- [BODIES,...] [rigid,soft] [STEP,...] [SECONDS] [heap,plates,flight]`
//!
//! With `--bodies=FILE` the bodies of the last heap are written to FILE, for the peers (mujoco_heap.py), and
//! their poses at the end to FILE.end.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]
#![allow(missing_docs)]
#![allow(non_snake_case)]

use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Index, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, StepSettings};
use nalgebra::UnitQuaternion;

#[path = "../it/random.rs"]
#[allow(dead_code, reason = "the benchmark needs a part of it")]
mod random;
use random::Random;

const DENSITY: f64 = 1000.0;
/// Half of the typical extent of a body [m].
const RADIUS: f64 = 0.02;

/// A shape, its volume [m3], and its moments of inertia by mass [m2].
fn body(kind: usize, scale: Vector3) -> (Shape, f64, Vector3) {
    let half = scale * RADIUS;
    let squares = half.component_mul(&half);
    let around = Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y);
    let (radius, length) = (half.x, 2.0 * half.z);
    let disc = std::f64::consts::PI * radius * radius;
    let round = |length: f64| {
        let across = squares.x / 4.0 + length * length / 12.0;
        Vector3::new(across, across, squares.x / 2.0)
    };
    match kind {
        0 => (Shape::Box { size: 2.0 * half }, 8.0 * half.product(), around / 3.0),
        1 => (Shape::Sphere { radius }, 4.0 / 3.0 * disc * radius, Vector3::repeat(0.4 * squares.x)),
        2 => (Shape::Cylinder { radius, length }, disc * length, round(length)),
        3 => (Shape::Capsule { radius, length }, disc * (length + 4.0 / 3.0 * radius), round(length + radius)),
        _ => (Shape::Ellipsoid { semi_axes: half }, 4.0 / 3.0 * std::f64::consts::PI * half.product(), around / 5.0),
    }
}

/// A body of a scene.
struct Body {
    kind: usize,
    /// Half of its extents in the axes of its frame \[m\].
    half: Vector3,
    mass: f64,
    moments: Vector3,
    X_WB: RigidTransform,
}

/// The bodies above the box, and the width of the box \[m\].
fn falling_bodies(count: usize) -> (Vec<Body>, f64) {
    let width = 0.2 * (count as f64 / 100.0).cbrt();
    let mut random = Random::new(count as u64);
    let pitch = 3.2 * RADIUS;
    let columns = (width / pitch).floor().max(1.0) as usize;
    let of = |number: usize| {
        let scale = Vector3::repeat(1.0) + 0.25 * random.vector();
        let (_, volume, moments) = body(number % 5, scale);
        let (layer, cell) = (number / (columns * columns), number % (columns * columns));
        let place = |i: usize| pitch * (i as f64 - 0.5 * (columns as f64 - 1.0));
        let p = Vector3::new(place(cell % columns), place(cell / columns), pitch * (layer as f64 + 0.6));
        let X_WB = RigidTransform::from_parts(p.into(), Rotation::new(3.0 * random.vector()));
        let mass = DENSITY * volume;
        Body { kind: number % 5, half: RADIUS * scale, mass, moments: mass * moments, X_WB }
    };
    ((0..count).map(of).collect(), width)
}

/// Plates of 100 mm by 80 mm by 20 mm in a square grid, each apart from the others at the height `z` \[m\].
fn plates(count: usize, z: f64) -> Vec<Body> {
    let columns = (count as f64).sqrt().ceil() as usize;
    let half = Vector3::new(0.05, 0.04, 0.01);
    let mass = 8.0 * DENSITY * half.product();
    let moments = body(0, half / RADIUS).2 * mass;
    let of = |i: usize| {
        let X_WB = RigidTransform::translation(0.13 * (i % columns) as f64, 0.11 * (i / columns) as f64, z);
        Body { kind: 0, half, mass, moments, X_WB }
    };
    (0..count).map(of).collect()
}

fn scene(kind: &str, count: usize, soft: bool, step: f64, file: Option<&str>) -> Simulation {
    let mut builder = SceneBuilder::new();
    let material = ContactProperties {
        compliant: Some(soft),
        hydroelastic_modulus: soft.then_some(1e6),
        mu_dynamic: Some(0.5),
        ..ContactProperties::default()
    };
    let wall = ContactProperties { compliant: Some(false), hydroelastic_modulus: None, ..material.clone() };
    let mut add = |name: &str, [x, y, z]: [f64; 3], size: [f64; 3]| {
        let shape = Shape::Box { size: size.into() };
        builder.add_geometry(BodyIndex::WORLD, name, RigidTransform::translation(x, y, z), shape, &wall).unwrap();
    };
    let bodies = if kind == "heap" {
        let (bodies, width) = falling_bodies(count);
        let (thick, high) = (0.05, 0.6 * width + 0.3);
        add("floor", [0.0, 0.0, -0.5 * thick], [width + 2.0 * thick, width + 2.0 * thick, thick]);
        add("left", [-0.5 * (width + thick), 0.0, 0.5 * high], [thick, width, high]);
        add("right", [0.5 * (width + thick), 0.0, 0.5 * high], [thick, width, high]);
        add("front", [0.0, -0.5 * (width + thick), 0.5 * high], [width + 2.0 * thick, thick, high]);
        add("back", [0.0, 0.5 * (width + thick), 0.5 * high], [width + 2.0 * thick, thick, high]);
        if let Some(file) = file {
            write_bodies(file, width, &bodies, |number| bodies[number].X_WB);
        }
        bodies
    } else {
        let span = 0.13 * (count as f64).sqrt().ceil();
        add("floor", [0.5 * span, 0.5 * span, -0.05], [2.0 * span, 2.0 * span, 0.1]);
        plates(count, if kind == "plates" { 0.0101 } else { 100.0 })
    };
    let mut poses = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        let moments = Matrix3::from_diagonal(&body.moments);
        let inertia = SpatialInertia::from_central(body.mass, &Vector3::zeros(), &moments);
        let index = builder.add_body(&format!("body_{number}"), inertia);
        let shape = self::body(body.kind, body.half / RADIUS).0;
        builder.add_geometry(index, "shape", RigidTransform::identity(), shape, &material).unwrap();
        poses.push((index, body.X_WB));
    }
    let scene = builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap();
    let mut state = scene.model().default_state();
    for (index, X_WB) in &poses {
        scene.model().set_free_body_pose(&mut state, *index, X_WB);
    }
    let settings = StepSettings { step_ns: (1e9 * step).round() as u64, ..StepSettings::default() };
    Simulation::new(Arc::new(scene), state, settings).unwrap()
}

/// The width of the box \[m\], and for each body its shape, half extents, mass, position and quaternion (w
/// first).
fn write_bodies(file: &str, width: f64, bodies: &[Body], pose: impl Fn(usize) -> RigidTransform) {
    let mut text = format!("{width}\n");
    for (number, body) in bodies.iter().enumerate() {
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

fn part(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

fn run(kind: &str, count: usize, soft: bool, (step, seconds): (f64, f64), file: Option<&str>) {
    let mut simulation = scene(kind, count, soft, step, file);
    let command = JointCommand::default();
    let steps = (seconds / step).round() as usize;
    let (mut times, mut phases, mut unconverged) = (Vec::new(), [0.0; 3], 0);
    let (mut iterations, mut rounds, mut wrong) = (Vec::new(), Vec::new(), 0);
    let mut landing = Vec::new();
    for number in 0..steps {
        let start = processor_time();
        let (report, step_times) = simulation.step_timed(&command, &processor_time).unwrap();
        let took = 1e6 * (processor_time() - start);
        unconverged += usize::from(!report.solver_converged);
        if number < steps / 2 {
            landing.push(took);
            continue;
        }
        times.push(took);
        iterations.push(f64::from(report.solver_iterations));
        rounds.push(f64::from(report.friction_rounds));
        wrong += usize::from(report.friction_error > 0.01);
        let parts = [step_times.motion, step_times.contact, step_times.solver];
        phases.iter_mut().zip(parts).for_each(|(sum, part)| *sum += 1e6 * part / (steps - steps / 2) as f64);
    }
    times.sort_by(f64::total_cmp);
    landing.sort_by(f64::total_cmp);
    iterations.sort_by(f64::total_cmp);
    rounds.sort_by(f64::total_cmp);
    let fastest = simulation.state().v.chunks(6).map(|v| v[3].hypot(v[4]).hypot(v[5])).fold(0.0, f64::max);
    if let (Some(file), "heap") = (file, kind) {
        let (bodies, width) = falling_bodies(count);
        let poses = &simulation.data().X_WB;
        write_bodies(&format!("{file}.end"), width, &bodies, |number| poses[BodyIndex::from_usize(number + 1)]);
    }
    let deepest = 1e3 * simulation.penetration_max();
    println!(
        "{kind:6} {count:5} {:5} {:4.0} ms | {:9.0} {:9.0} {:9.0} us | landing {:9.0} {:9.0} us | motion {:6.0} \
         contact {:6.0} solver {:6.0} | iterations {:3.0} {:3.0} rounds {:2.0} {:2.0} | unconverged {unconverged} \
         friction {wrong} | fastest {:.1} \
         mm/s, deepest {deepest:.3} mm",
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
        1e3 * fastest,
    );
}

fn main() {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let file = all.iter().find_map(|argument| argument.strip_prefix("--bodies="));
    let arguments: Vec<&String> = all.iter().filter(|argument| !argument.starts_with("--")).collect();
    let list = |i: usize, default: &str| arguments.get(i).map_or(default, |x| x).to_owned();
    let number = |text: &str| text.parse::<f64>().unwrap();
    println!("bodies, step | median, 99th percentile, most | landing: median, 99th percentile | parts of the mean");
    for kind in list(4, "heap").split(',') {
        for count in list(0, "10,40,100").split(',') {
            for material in list(1, "rigid,soft").split(',') {
                for step in list(2, "1e-3").split(',') {
                    let times = (number(step), number(&list(3, "2")));
                    run(kind, count.parse().unwrap(), material == "soft", times, file);
                }
            }
        }
    }
}
