//! Rigid bodies that fly past each other, or meet, at all speeds and steps.

use std::sync::Arc;

use isobar::geometry::{PointContacts, RigidShape, RigidWorkspace, Shape, SurfaceMesh, contact_points};
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, SpatialVelocity, Vector3};
use isobar::scene::SceneBuilder;
use isobar::stepping::{JointCommand, Simulation, StepSettings};

use super::bodies::rigid;
use crate::random::Random;

const SIZE: f64 = 0.05;

/// A prism whose outline is an L, of the size of the other shapes.
fn bracket() -> Shape {
    let outline = [[-1.0, -1.0], [1.0, -1.0], [1.0, -0.4], [-0.4, -0.4], [-0.4, 1.0], [-1.0, 1.0]];
    let corner = |z: f64| outline.map(|[x, y]| Vector3::new(x, y, z) * SIZE);
    let vertices = [corner(-0.8), corner(0.8)].concat();
    let caps = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
    let mut triangles: Vec<[u32; 3]> = caps.map(|[a, b, c]| [a, c, b]).to_vec();
    triangles.extend(caps.map(|cap| cap.map(|vertex| vertex + 6)));
    for i in 0..6 {
        let j = (i + 1) % 6;
        triangles.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
    }
    Shape::Mesh(Arc::new(SurfaceMesh { vertices, triangles }))
}

fn shape(number: usize) -> Shape {
    match number {
        0 => Shape::Sphere { radius: SIZE },
        1 => Shape::Box { size: Vector3::new(2.0, 1.5, 1.0) * SIZE },
        2 => Shape::Capsule { radius: 0.4 * SIZE, length: 1.2 * SIZE },
        3 => Shape::Cylinder { radius: 0.8 * SIZE, length: SIZE },
        _ => bracket(),
    }
}

/// A body that flies at an obstacle that is fixed or free, without gravity or friction.
#[derive(Clone)]
struct Flight {
    obstacle: (Shape, RigidTransform),
    free: bool,
    body: Shape,
    X_WB: RigidTransform,
    V: SpatialVelocity,
    step: f64,
    steps: usize,
}

impl Flight {
    fn random(random: &mut Random) -> Self {
        let obstacle = match random.below(3) {
            0 => Shape::Box { size: Vector3::new(4.0, 3.0, 2.0) * SIZE },
            1 => Shape::Cylinder { radius: 1.5 * SIZE, length: 3.0 * SIZE },
            _ => bracket(),
        };
        let step = 2e-4 * 100_f64.powf(0.5 + 0.5 * random.next());
        let speed = 0.3 * 40_f64.powf(0.5 + 0.5 * random.next());
        let direction = random.vector().normalize();
        let beside = random.vector().cross(&direction).normalize() * (3.0 * SIZE * random.next());
        let turn = |random: &mut Random| Rotation::new(3.0 * random.vector());
        // It starts anywhere in its first step
        let before = 5.0 * SIZE + speed * step * (0.5 + 0.5 * random.next());
        let w = if random.below(2) == 0 { Vector3::zeros() } else { 5.0 * random.vector() };
        Self {
            obstacle: (obstacle, RigidTransform::from_parts(Vector3::zeros().into(), turn(random))),
            free: random.below(3) == 0,
            body: shape(random.below(5)),
            X_WB: RigidTransform::from_parts((beside - direction * before).into(), turn(random)),
            V: SpatialVelocity::new(w, direction * speed),
            step,
            steps: ((12.0 * SIZE / speed + step) / step).ceil() as usize,
        }
    }

    /// The least distance on the straight way, up to an accuracy of the way between two looks.
    fn least_distance(&self) -> f64 {
        let [a, b] = [&self.obstacle.0, &self.body].map(|shape| RigidShape::new(shape).expect("a shape"));
        let (mut out, mut workspace) = (PointContacts::default(), RigidWorkspace::default());
        let time = self.steps as f64 * self.step;
        let mut least = f64::INFINITY;
        for look in 0..=500 {
            let t = time * f64::from(look) / 500.0;
            let origin = self.X_WB.translation.vector + self.V.v * t;
            let X_WB = RigidTransform::from_parts(origin.into(), Rotation::new(self.V.w * t) * self.X_WB.rotation);
            contact_points(&a, &self.obstacle.1, &b, &X_WB, 0.02, &mut workspace, &mut out);
            least = out.phi.iter().copied().fold(least, f64::min);
        }
        least
    }

    fn simulation(&self) -> (Simulation, BodyIndex) {
        let mut builder = SceneBuilder::new();
        let inertia = SpatialInertia::from_central(1.0, &Vector3::zeros(), &(1e-3 * Matrix3::identity()));
        let (shape, X_WO) = &self.obstacle;
        let obstacle = if self.free { builder.add_body("obstacle", inertia) } else { BodyIndex::WORLD };
        let X = if self.free { RigidTransform::identity() } else { *X_WO };
        builder.add_geometry(obstacle, "obstacle", X, shape.clone(), &rigid(0.0)).expect("an obstacle");
        let body = builder.add_body("body", inertia);
        let X = RigidTransform::identity();
        builder.add_geometry(body, "shape", X, self.body.clone(), &rigid(0.0)).expect("a shape");
        let scene = builder.build(Vector3::zeros()).expect("a scene");
        let mut state = scene.model().default_state();
        if self.free {
            scene.model().set_free_body_pose(&mut state, obstacle, X_WO);
        }
        scene.model().set_free_body_pose(&mut state, body, &self.X_WB);
        scene.model().set_free_body_velocity(&mut state, body, &self.V);
        let settings = StepSettings { step_ns: (self.step * 1e9).round() as u64, ..StepSettings::default() };
        (Simulation::new(Arc::new(scene), state, settings).expect("a simulation"), body)
    }

    /// The change of the velocity [m/s, and rad/s times the size].
    fn fly(&self) -> f64 {
        let (mut simulation, body) = self.simulation();
        for _ in 0..self.steps {
            simulation.step(&JointCommand::default()).expect("a step");
        }
        let V = simulation.data().V_WB[body];
        (V.v - self.V.v).norm() + SIZE * (V.w - self.V.w).norm()
    }
}

/// Flies the first `count` random flights whose least distance \[m\] is accepted. Those with a change of the
/// motion that is not right are named.
fn fly_all(seed: u64, count: usize, accepts: impl Fn(f64) -> bool, is_right: impl Fn(&Flight, f64) -> bool) {
    let mut random = Random::new(seed);
    let (mut flown, mut wrong) = (0, Vec::new());
    while flown < count {
        let flight = Flight::random(&mut random);
        let least = flight.least_distance();
        if !accepts(least) {
            continue;
        }
        flown += 1;
        let change = flight.fly();
        if !is_right(&flight, change) {
            wrong.push(format!(
                "{flown}: {change} m/s of {}, distance {least} m, step {} s: {} and {}, free: {}, spin {}",
                flight.V.v.norm(),
                flight.step,
                flight.body.kind(),
                flight.obstacle.0.kind(),
                flight.free,
                flight.V.w.norm()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {flown} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Law: bodies that pass each other at 1.5 mm or more do not change their motion.
#[test]
fn bodies_that_pass_each_other_are_not_deflected() {
    fly_all(11, 100, |least| (1.5e-3..0.02).contains(&least), |_, change| change <= 1e-9);
}

/// Law: bodies whose ways cross by a fifth of their size or more change their motion when they meet: the
/// least change is 3.4 % of the speed.
#[test]
fn bodies_that_meet_do_not_pass_through_each_other() {
    let meets = |flight: &Flight, change: f64| change >= 0.03 * flight.V.v.norm();
    fly_all(12, 180, |least| least <= -0.2 * SIZE, meets);
}

/// Law: a ball that flies by a box at 1 mm keeps its velocity. It was deflected to 0.26 m/s and -2.30 m/s.
#[test]
fn a_ball_that_passes_a_box_at_a_millimetre_keeps_its_velocity() {
    for (speed, step) in [(3.0, 5e-3), (10.0, 1e-3), (10.0, 2e-2), (0.5, 2e-4), (3.0, 1e-2)] {
        for free in [false, true] {
            let flight = Flight {
                obstacle: (Shape::Box { size: Vector3::new(0.2, 0.2, 0.2) }, RigidTransform::identity()),
                free,
                body: Shape::Sphere { radius: 0.03 },
                X_WB: RigidTransform::translation(0.131, 0.0, 0.3),
                V: SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -speed)),
                step,
                steps: (0.6 / speed / step).ceil() as usize,
            };
            let change = flight.fly();
            assert!(change < 1e-12, "{speed} m/s, {step} s: changed by {change} m/s");
        }
    }
}
