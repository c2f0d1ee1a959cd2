//! Thin rigid bodies that land on thin plates, and bodies that push others into them, in long steps.

use std::sync::Arc;

use isobar::geometry::Shape;
use isobar::math::{BodyIndex, RigidTransform, Rotation, SpatialVelocity, Vector3};
use isobar::multibody::energy;
use isobar::scene::{Scene, SceneBuilder};
use isobar::stepping::{JointCommand, Simulation, StepSettings};

use super::bodies::{box_inertia, rigid};
use crate::random::Random;

/// A plate about the world's origin, fixed or free, and bodies above it.
struct Table {
    scene: Arc<Scene>,
    bodies: Vec<BodyIndex>,
    half: Vector3,
}

impl Table {
    fn new(size: Vector3, free: bool, above: &[(Shape, f64)], gravity: f64) -> Self {
        let (mut builder, X) = (SceneBuilder::new(), RigidTransform::identity());
        let plate = if free { builder.add_body("plate", box_inertia(0.1, &size)) } else { BodyIndex::WORLD };
        builder.add_geometry(plate, "plate", X, Shape::Box { size }, &rigid(0.3)).expect("a plate");
        let mut bodies = vec![plate];
        for (number, (shape, mass)) in above.iter().enumerate() {
            let body = builder.add_body(&format!("body_{number}"), box_inertia(*mass, &extents(shape)));
            builder.add_geometry(body, "shape", X, shape.clone(), &rigid(0.3)).expect("a shape");
            bodies.push(body);
        }
        let scene = builder.build(Vector3::new(0.0, 0.0, -gravity)).expect("a scene");
        Self { scene: Arc::new(scene), bodies, half: 0.5 * size }
    }

    fn start(&self, above: &[(RigidTransform, SpatialVelocity)], step: f64) -> Simulation {
        let model = self.scene.model();
        let mut state = model.default_state();
        for (body, (X_WB, V_WB)) in self.bodies[1..].iter().zip(above) {
            model.set_free_body_pose(&mut state, *body, X_WB);
            model.set_free_body_velocity(&mut state, *body, V_WB);
        }
        let settings = StepSettings { step_ns: (step * 1e9).round() as u64, ..StepSettings::default() };
        Simulation::new(self.scene.clone(), state, settings).expect("a simulation")
    }

    /// The centres of the bodies in the frame of the plate [m].
    fn places(&self, simulation: &Simulation) -> Vec<Vector3> {
        let pose = |body: &BodyIndex| simulation.data().X_WB[*body];
        self.bodies[1..].iter().map(|body| (pose(&self.bodies[0]).inverse() * pose(body)).translation.vector).collect()
    }

    /// Whether a straight way leads through the plate, not beside it or past its rim.
    fn is_crossed(&self, from: &Vector3, to: &Vector3) -> bool {
        let at = from.lerp(to, from.z / (from.z - to.z));
        from.z * to.z <= 0.0 && at.x.abs() < 0.85 * self.half.x && at.y.abs() < 0.85 * self.half.y
    }

    /// Steps through the plate: `None` if no centre goes through, otherwise whether a warning names it. The
    /// energy must not grow.
    fn passes(&self, above: &[(RigidTransform, SpatialVelocity)], step: f64, steps: usize, name: &str) -> Option<bool> {
        let mut simulation = self.start(above, step);
        let total =
            |simulation: &Simulation| energy(self.scene.model(), simulation.data(), &simulation.state().v).total();
        let (before, mut places, mut named, mut passed) = (total(&simulation), self.places(&simulation), false, false);
        for _ in 0..steps {
            simulation.step(&JointCommand::default()).expect("a step");
            named |= simulation.missed_contact().is_some();
            let now = self.places(&simulation);
            passed |= places.iter().zip(&now).any(|(from, to)| self.is_crossed(from, to));
            places = now;
            let gain = total(&simulation) - before;
            assert!(gain <= 1e-6 * before.abs(), "{name}: {gain} J of {before} J");
        }
        passed.then_some(named)
    }
}

fn extents(shape: &Shape) -> Vector3 {
    match shape {
        Shape::Box { size } => *size,
        Shape::Cylinder { radius, length } => Vector3::new(2.0 * radius, 2.0 * radius, *length),
        Shape::Sphere { radius } => Vector3::repeat(2.0 * radius),
        _ => Vector3::repeat(0.05),
    }
}

/// The runs of a test, those with a body that passes through, and the names of those without a warning.
#[derive(Default)]
struct Count {
    runs: usize,
    passed: usize,
    silent: Vec<String>,
}

impl Count {
    fn add(&mut self, passes: Option<bool>, name: String) {
        self.runs += 1;
        self.passed += usize::from(passes.is_some());
        if passes == Some(false) {
            self.silent.push(name);
        }
    }

    /// None is silent, and at most one in `most` passes.
    fn check(&self, most: usize) {
        let Self { runs, passed, silent } = self;
        assert!(silent.is_empty(), "{} of {runs} pass without a warning:\n{}", silent.len(), silent.join("\n"));
        assert!(passed * most <= *runs, "{passed} of {runs} pass");
    }
}

/// Law: coins that land on thin plates at any angle, with a spin or without, do not pass through, or a
/// warning names them.
///
/// Regression: 13 % passed through, one in six of them without a warning: the points of the start lie on the
/// side that is nearest, and the coin turns past them within the step.
#[test]
fn coins_do_not_pass_through_thin_plates_in_silence() {
    let (mut count, mut random) = (Count::default(), Random::new(1));
    for (coin, thick) in [0.001, 0.002].iter().flat_map(|coin| [0.001, 0.002, 0.005].map(|thick| (*coin, thick))) {
        let shape = Shape::Cylinder { radius: 0.01, length: coin };
        for free in [false, true] {
            let table = Table::new(Vector3::new(0.16, 0.12, thick), free, &[(shape.clone(), 0.005)], 0.0);
            for (step, speed) in [1e-3, 5e-3, 1e-2].iter().flat_map(|step| [0.5, 1.5, 5.0].map(|v| (*step, v))) {
                for number in 0..8 {
                    let v = Vector3::new(0.5 * random.next(), 0.5 * random.next(), -1.0).normalize() * speed;
                    let way = 1.5 * step * (0.5 + 0.5 * random.next());
                    let over = Vector3::new(0.03 * random.next(), 0.03 * random.next(), 0.0103 + 0.5 * thick);
                    let X_WB =
                        RigidTransform::from_parts((over - v * way).into(), Rotation::new(3.0 * random.vector()));
                    let w = if number % 2 == 0 { Vector3::zeros() } else { 30.0 * random.vector() };
                    let steps = ((0.025 / speed / step) as usize + 4).min(60);
                    let name = format!("{coin} m on {thick} m, free: {free}, {speed} m/s, {step} s, {number}");
                    let above = [(X_WB, SpatialVelocity::new(w, v))];
                    count.add(table.passes(&above, step, steps, &name), name);
                }
            }
        }
    }
    count.check(50);
}

/// Law: a body that is pushed into a thin plate by another one, within a step, does not pass through it, or a
/// warning names it.
#[test]
fn bodies_that_are_pushed_do_not_pass_through_thin_plates_in_silence() {
    let pushed = [
        (Shape::Cylinder { radius: 0.02, length: 0.003 }, 0.0015),
        (Shape::Box { size: Vector3::new(0.04, 0.04, 0.02) }, 0.01),
        (Shape::Sphere { radius: 0.015 }, 0.015),
    ];
    let (mut count, mut random, ball) = (Count::default(), Random::new(2), 0.02);
    for ((shape, half), thick) in pushed.iter().flat_map(|one| [0.001, 0.005].map(|thick| (one, thick))) {
        for (free, mass) in [(false, 0.05), (false, 1.0), (true, 0.05), (true, 1.0)] {
            let above = [(shape.clone(), 0.05), (Shape::Sphere { radius: ball }, mass)];
            let table = Table::new(Vector3::new(0.2, 0.2, thick), free, &above, if free { 0.0 } else { 9.81 });
            for (step, speed) in [1e-3, 5e-3, 1e-2].iter().flat_map(|step| [1.0, 3.0, 10.0].map(|v| (*step, v))) {
                for gap in [0.0, 1e-6, 1e-4, 3e-3, 0.02] {
                    let v = Vector3::new(0.2 * random.next(), 0.2 * random.next(), -1.0).normalize() * speed;
                    let z = 0.5 * thick + gap + half;
                    let way = 1.5 * step * (0.5 + 0.5 * random.next());
                    let over = Vector3::new(0.01 * random.next(), 0.01 * random.next(), z + half + ball + 1e-6);
                    let at_rest = SpatialVelocity::new(Vector3::zeros(), Vector3::zeros());
                    let above = [
                        (RigidTransform::translation(0.0, 0.0, z), at_rest),
                        (RigidTransform::from(over - v * way), SpatialVelocity::new(Vector3::zeros(), v)),
                    ];
                    let steps = ((0.05 / speed / step) as usize + 4).min(40);
                    let name = format!("{} on {thick} m, {mass} kg, {speed} m/s, {step} s, {gap} m", shape.kind());
                    count.add(table.passes(&above, step, steps, &name), name);
                }
            }
        }
    }
    count.check(100);
}

/// Law: a coin that rests, slides or rolls on a thin plate, or falls flat on it from 5 mm, is not named.
#[test]
fn coins_that_rest_slide_or_roll_are_not_named() {
    let shape = Shape::Cylinder { radius: 0.01, length: 0.002 };
    let table = Table::new(Vector3::new(0.4, 0.2, 0.002), false, &[(shape, 0.005)], 9.81);
    let upright = Rotation::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let flat = Rotation::identity();
    for step in [1e-3, 5e-3, 1e-2] {
        for (R, height, w, v) in
            [(flat, 0.001, 0.0, 0.0), (flat, 0.001, 0.0, 0.5), (flat, 0.006, 0.0, 0.2), (upright, 0.01, 20.0, 0.2)]
        {
            let X_WB = RigidTransform::from_parts(Vector3::new(-0.1, 0.0, 0.001 + height).into(), R);
            let V = SpatialVelocity::new(Vector3::new(0.0, w, 0.0), Vector3::new(v, 0.0, 0.0));
            let mut simulation = table.start(&[(X_WB, V)], step);
            for number in 0..(0.3 / step) as usize {
                simulation.step(&JointCommand::default()).expect("a step");
                let missed = simulation.missed_contact().map(|missed| missed.to_string());
                assert_eq!(missed, None, "{step} s, {height} m, {w} rad/s, {v} m/s, step {number}");
            }
        }
    }
}

/// Cylinders rest on sloping boxes that are much wider, whose faces lean against theirs by rounding or a
/// little more.
#[test]
fn cylinders_stay_at_rest_on_wide_faces_in_any_orientation() {
    let mut random = Random::new(7);
    for case in 0..30 {
        let (radius, length) = [(0.03, 0.1), (0.01, 0.002), (0.02, 0.03)][case % 3];
        let tilt = [0.0, 1e-9, 1e-5][case % 3];
        let axis = Vector3::new(random.next(), random.next(), 0.0).normalize();
        let slope = Rotation::new(axis * (0.25 * random.next())) * Rotation::new(Vector3::z() * (3.0 * random.next()));
        let mut builder = SceneBuilder::new();
        let plate = Shape::Box { size: Vector3::new(0.5, 0.5, 0.03) };
        let X_WP = RigidTransform::from_parts(Vector3::zeros().into(), slope);
        builder.add_geometry(BodyIndex::WORLD, "plate", X_WP, plate, &rigid(0.6)).expect("a plate");
        let can = builder.add_body("can", box_inertia(0.1, &Vector3::new(radius, radius, length)));
        let shape = Shape::Cylinder { radius, length };
        builder.add_geometry(can, "can", RigidTransform::identity(), shape, &rigid(0.6)).expect("a can");
        let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -9.81)).expect("a scene"));
        let model = scene.model();
        let mut state = model.default_state();
        let at = Vector3::new(0.1 * random.next(), 0.1 * random.next(), 0.015 + 0.5 * length);
        let lean = Rotation::new(Vector3::x() * tilt) * Rotation::new(Vector3::z() * (3.0 * random.next()));
        let start = X_WP * RigidTransform::from_parts(at.into(), lean);
        model.set_free_body_pose(&mut state, can, &start);
        let settings = StepSettings { step_ns: 1_000_000, ..StepSettings::default() };
        let mut simulation = Simulation::new(scene.clone(), state, settings).expect("a simulation");
        for _ in 0..300 {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let moved = start.inverse() * simulation.data().X_WB[can];
        assert!(moved.translation.vector.norm() < 2e-6, "case {case}: moved by {}", moved.translation.vector.norm());
        let spin = simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert!(spin < 1e-6, "case {case}: still {spin} m/s or rad/s");
    }
}
