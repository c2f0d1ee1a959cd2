//! A heap: boxes, spheres, cylinders, capsules and ellipsoids that fall into an open box and come to rest.
//! Time of a step, over the second half of the run, and what bounds it.
//!
//! `cargo bench --bench heap -- [BODIES,...] [rigid,soft] [STEP,...] [SECONDS]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails by panicking, and prints")]
#![allow(missing_docs)]
#![allow(non_snake_case)]

use std::sync::Arc;
use std::time::Instant;

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, StepSettings};

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

fn heap(count: usize, soft: bool, step: f64) -> Simulation {
    let mut builder = SceneBuilder::new();
    let material = ContactProperties {
        compliant: Some(soft),
        hydroelastic_modulus: soft.then_some(1e6),
        mu_dynamic: Some(0.5),
        ..ContactProperties::default()
    };
    let wall = ContactProperties { compliant: Some(false), hydroelastic_modulus: None, ..material.clone() };
    let width = 0.2 * (count as f64 / 100.0).cbrt();
    let (thick, high) = (0.05, 0.6 * width + 0.3);
    let boards = [
        ("floor", [0.0, 0.0, -0.5 * thick], [width + 2.0 * thick, width + 2.0 * thick, thick]),
        ("left", [-0.5 * (width + thick), 0.0, 0.5 * high], [thick, width, high]),
        ("right", [0.5 * (width + thick), 0.0, 0.5 * high], [thick, width, high]),
        ("front", [0.0, -0.5 * (width + thick), 0.5 * high], [width + 2.0 * thick, thick, high]),
        ("back", [0.0, 0.5 * (width + thick), 0.5 * high], [width + 2.0 * thick, thick, high]),
    ];
    for (name, [x, y, z], size) in boards {
        let shape = Shape::Box { size: size.into() };
        builder.add_geometry(BodyIndex::WORLD, name, RigidTransform::translation(x, y, z), shape, &wall).unwrap();
    }
    let mut random = Random::new(count as u64);
    let pitch = 3.2 * RADIUS;
    let columns = (width / pitch).floor().max(1.0) as usize;
    let mut poses = Vec::new();
    for number in 0..count {
        let scale = Vector3::repeat(1.0) + 0.25 * random.vector();
        let (shape, volume, moments) = body(number % 5, scale);
        let mass = DENSITY * volume;
        let inertia = SpatialInertia::from_central(mass, &Vector3::zeros(), &Matrix3::from_diagonal(&(mass * moments)));
        let index = builder.add_body(&format!("body_{number}"), inertia);
        builder.add_geometry(index, "shape", RigidTransform::identity(), shape, &material).unwrap();
        let (layer, cell) = (number / (columns * columns), number % (columns * columns));
        let place = |i: usize| pitch * (i as f64 - 0.5 * (columns as f64 - 1.0));
        let p = Vector3::new(place(cell % columns), place(cell / columns), pitch * (layer as f64 + 0.6));
        poses.push((index, RigidTransform::from_parts(p.into(), Rotation::new(3.0 * random.vector()))));
    }
    let scene = builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap();
    let mut state = scene.model().default_state();
    for (index, X_WB) in &poses {
        scene.model().set_free_body_pose(&mut state, *index, X_WB);
    }
    let settings = StepSettings { step_ns: (1e9 * step).round() as u64, ..StepSettings::default() };
    Simulation::new(Arc::new(scene), state, settings).unwrap()
}

fn part(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

fn run(count: usize, soft: bool, step: f64, seconds: f64) {
    let mut simulation = heap(count, soft, step);
    let command = JointCommand::default();
    let steps = (seconds / step).round() as usize;
    let (mut times, mut phases, mut iterations, mut unconverged) = (Vec::new(), [0.0; 3], Vec::new(), 0);
    let (mut landing, clock) = (Vec::new(), Instant::now());
    for number in 0..steps {
        let start = Instant::now();
        let (report, step_times) = simulation.step_timed(&command, &|| clock.elapsed().as_secs_f64()).unwrap();
        let took = 1e6 * start.elapsed().as_secs_f64();
        unconverged += usize::from(!report.solver_converged);
        if number < steps / 2 {
            landing.push(took);
            continue;
        }
        times.push(took);
        iterations.push(f64::from(report.solver_iterations));
        let parts = [step_times.motion, step_times.contact, step_times.solver];
        phases.iter_mut().zip(parts).for_each(|(sum, part)| *sum += 1e6 * part / (steps - steps / 2) as f64);
    }
    times.sort_by(f64::total_cmp);
    landing.sort_by(f64::total_cmp);
    iterations.sort_by(f64::total_cmp);
    let fastest = simulation.state().v.chunks(6).map(|v| v[3].hypot(v[4]).hypot(v[5])).fold(0.0, f64::max);
    println!(
        "{count:5} {:5} {:4.0} ms | {:9.0} {:9.0} {:9.0} us | landing {:9.0} {:9.0} us | motion {:6.0} contact {:6.0} \
         solver {:6.0} | iterations {:3.0} {:3.0} | unconverged {unconverged} | fastest {:.1} mm/s",
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
        1e3 * fastest,
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let list = |i: usize, default: &str| arguments.get(i).map_or(default, |x| x).to_owned();
    println!("bodies, step | median, 99th percentile, most | landing: median, 99th percentile | parts of the mean");
    for count in list(0, "10,40,100").split(',') {
        for material in list(1, "rigid,soft").split(',') {
            for step in list(2, "1e-3").split(',') {
                run(count.parse().unwrap(), material == "soft", step.parse().unwrap(), list(3, "2").parse().unwrap());
            }
        }
    }
}
