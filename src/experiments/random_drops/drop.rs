//! One random drop: body, materials, motion at the start and step, from a seed.

use std::fmt;
use std::sync::Arc;

use crate::contact::ContactProperties;
use crate::experiments::ExperimentError;
use crate::geometry::Shape;
use crate::math::{BodyIndex, Matrix3, Random, RigidTransform, Rotation, SpatialInertia, SpatialVelocity, Vector3};
use crate::scene::SceneBuilder;
use crate::stepping::{DissipationModel, DynamicStepping, Simulation, StepSettings, Stepping};

/// Acceleration of gravity [m/s2].
pub(super) const GRAVITY: f64 = 9.81;
/// Relaxation time of the linear law of dissipation \[s\].
const RELAXATION_TIME: f64 = 0.02;
/// The length of edges as a part of the radius of a sphere around the body [-].
pub(super) const RESOLUTION: f64 = 0.5;
/// The names of the shapes.
pub(super) const SHAPES: [&str; 5] = ["box", "sphere", "cylinder", "capsule", "ellipsoid"];
/// The steps \[s\].
const STEPS: [f64; 5] = [0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3];

/// A homogeneous body above the half space z <= 0, in motion.
#[derive(Clone, Debug)]
pub struct Drop {
    /// The seed.
    pub seed: u64,
    /// The index of its shape.
    kind: usize,
    /// The lengths of its sides, without the caps of a capsule \[m\].
    pub size: Vector3,
    /// Mass \[kg\].
    pub mass: f64,
    /// The modulus of the compliant side \[Pa\].
    pub modulus: f64,
    /// Hunt-Crossley dissipation [s/m].
    pub dissipation: f64,
    /// The law of dissipation.
    pub law: DissipationModel,
    /// Whether the ground is compliant and the body rigid, instead of the opposite.
    pub soft_ground: bool,
    /// Whether both are rigid.
    pub rigid: bool,
    /// Friction coefficient [-].
    pub friction: f64,
    /// The height of the sphere around the body above the ground at the start \[m\].
    pub height: f64,
    /// The rotation vector of its pose at the start \[rad\].
    turn: Vector3,
    /// The velocity at the start.
    velocity: SpatialVelocity,
    /// The step \[s\].
    pub step: f64,
}

impl fmt::Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, mass, modulus, dissipation, friction, step, height, .. } = self;
        let law = if self.law == DissipationModel::Linear { "linear" } else { "Hunt-Crossley" };
        let ground = if self.soft_ground && !self.rigid { "soft" } else { "rigid" };
        let body = if self.rigid { "rigid " } else { "" };
        write!(
            f,
            "seed {seed}: {body}{}, mu {friction:.2}, {mass:.1e} kg, {:.1e} m, {modulus:.0e} Pa, {law}, d {dissipation:.2}, {ground} ground, \
             from {height:.1e} m, step {} ms",
            self.shape_name(),
            self.size.min(),
            1e3 * step,
        )
    }
}

impl Drop {
    /// The drop of `seed`: mass, density, shape, modulus, dissipation, friction, height, tilt, velocity and
    /// step are random. Masses are 0.1 g to 100 kg, moduli 1e4 to 1e9 Pa, dissipations 0 to 50 s/m, steps 0.5
    /// to 10 ms. With `rigid`, body and ground are rigid, friction may be 0, and most spins are faster.
    pub fn random(seed: u64, rigid: bool) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let kind = random.below(SHAPES.len());
        let (mass, density) = (random.between(1e-4, 100.0), random.between(100.0, 5000.0));
        let extents = Vector3::from_fn(|_, _| random.between(0.4, 2.5));
        let mut size = extents * (mass / density / extents.product()).cbrt();
        match SHAPES[kind] {
            "sphere" => size = Vector3::repeat(size.x),
            "cylinder" | "capsule" => size.y = size.x,
            _ => {}
        }
        let modulus = random.between(1e4, 1e9);
        let dissipation = match random.below(4) {
            0 => 0.0,
            1 => random.between(0.01, 1.0),
            _ => random.between(1.0, 50.0),
        };
        let law = if random.below(2) == 1 { DissipationModel::Linear } else { DissipationModel::HuntCrossley };
        let step = STEPS[random.below(STEPS.len())];
        let height = random.between(1e-3, 0.3);
        let turn = random.vector() * if random.below(3) == 0 { 0.02 } else { 3.0 };
        let soft_ground = random.below(3) == 0;
        let mut friction = 0.6 + 0.4 * random.signed();
        let slide = Vector3::new(0.3 * random.signed(), 0.3 * random.signed(), 0.0);
        let mut velocity = SpatialVelocity::new(random.vector() * 3.0, slide);
        if rigid {
            friction = [0.0, 0.1, 0.5, 1.0][random.below(4)];
            velocity.w *= random.between(0.3, 10.0);
        }
        Self {
            seed,
            kind,
            size,
            mass,
            modulus,
            dissipation,
            law,
            soft_ground,
            rigid,
            friction,
            height,
            turn,
            velocity,
            step,
        }
    }

    /// The name of the shape.
    pub fn shape_name(&self) -> &'static str {
        SHAPES[self.kind]
    }

    /// Whether the body can roll.
    pub fn rolls(&self) -> bool {
        self.shape_name() != "box"
    }

    /// The radius of a sphere around the body \[m\].
    pub fn radius(&self) -> f64 {
        let half = self.size * 0.5;
        match self.shape_name() {
            "box" => half.norm(),
            "cylinder" => half.x.hypot(half.z),
            "capsule" => half.x + half.z,
            _ => half.max(),
        }
    }

    fn shape(&self) -> Shape {
        let (radius, length) = (0.5 * self.size.x, self.size.z);
        match self.shape_name() {
            "box" => Shape::Box { size: self.size },
            "sphere" => Shape::Sphere { radius },
            "cylinder" => Shape::Cylinder { radius, length },
            "capsule" => Shape::Capsule { radius, length },
            _ => Shape::Ellipsoid { semi_axes: self.size * 0.5 },
        }
    }

    /// Moments of inertia about the centre [kg m2]. A capsule has those of a cylinder that is longer than its
    /// straight part by the radius.
    fn moments(&self) -> Vector3 {
        let squares = self.size.component_mul(&self.size) * 0.25;
        let around =
            |part: f64| Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y) * part;
        let round = |length: f64| {
            let across = squares.x / 4.0 + length * length / 12.0;
            Vector3::new(across, across, squares.x / 2.0)
        };
        self.mass
            * match self.shape_name() {
                "box" => around(1.0 / 3.0),
                "cylinder" => round(self.size.z),
                "capsule" => round(self.size.z + 0.5 * self.size.x),
                _ => around(1.0 / 5.0),
            }
    }

    /// The largest speed that the energy of the start can give the body \[m/s\].
    pub fn speed_max(&self) -> f64 {
        let (w, v) = (self.velocity.w, self.velocity.v);
        let turning = self.moments().max() * w.norm_squared() / self.mass;
        (v.norm_squared() + turning + 2.0 * GRAVITY * (self.height + 2.0 * self.radius())).sqrt()
    }

    /// The simulation of the drop, and its body. The law of dissipation is that of the drop; all else is from
    /// `options`.
    ///
    /// # Errors
    /// A scene or a simulation that cannot be built.
    pub fn simulation(&self, options: DynamicStepping) -> Result<(Simulation, BodyIndex), ExperimentError> {
        let radius = self.radius();
        let material = |compliant: bool| ContactProperties {
            compliant: Some(compliant),
            hydroelastic_modulus: Some(self.modulus),
            hunt_crossley_dissipation: Some(self.dissipation),
            relaxation_time: Some(RELAXATION_TIME),
            mu_dynamic: Some(self.friction),
            mesh_resolution_hint: Some(RESOLUTION * radius),
            slab_thickness: Some(0.1),
            ..ContactProperties::default()
        };
        let mut builder = SceneBuilder::new();
        let here = RigidTransform::identity();
        let ground = material(self.soft_ground && !self.rigid);
        builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &ground)?;
        let moments = Matrix3::from_diagonal(&self.moments());
        let body = builder.add_body("body", SpatialInertia::from_central(self.mass, &Vector3::zeros(), &moments));
        builder.add_geometry(body, "shape", here, self.shape(), &material(!self.soft_ground && !self.rigid))?;
        let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);
        let mut state = scene.model().default_state();
        let position = Vector3::new(0.0, 0.0, self.height + radius);
        let X_WB = RigidTransform::from_parts(position.into(), Rotation::new(self.turn));
        scene.model().set_free_body_pose(&mut state, body, &X_WB);
        scene.model().set_free_body_velocity(&mut state, body, &self.velocity);
        let stepping = Stepping::Dynamic(DynamicStepping { dissipation: self.law, ..options });
        let step_ns = (self.step * 1e9).round() as u64;
        Ok((Simulation::new(scene, state, StepSettings { step_ns, stepping, ..StepSettings::default() })?, body))
    }

    /// The time in which the speed of a body that bounces on one point falls to `slow` [m/s] by the law of
    /// its contact \[s\]; `depth` \[m\] is its depth at rest. Infinite without dissipation.
    ///
    /// - Hunt-Crossley: a bounce has e = 1 - 2/3 d v for small d v, so 1/v grows by 2 d/3 in the time 2 v/g
    ///   of a flight. The result is (3/(g d)) ln(v/slow). Vibrations in contact end sooner, at the rate
    ///   g d/2.
    /// - Linear: a mass on a spring with w^2 = g/depth and the damping ratio z = tau w/2 bounces with
    ///   e = exp(-pi z), and its vibration ends at the rate z w. Light damping is the worst case.
    /// - Rigid bodies do not bounce. A body that slides needs friction above 0.1 to come to rest.
    pub fn rest_time(&self, depth: f64, slow: f64) -> f64 {
        let speed = self.speed_max();
        let decades = (speed / slow).ln().max(0.0);
        if self.rigid {
            return if self.friction > 0.1 { 2.0 * speed / GRAVITY } else { f64::INFINITY };
        }
        match self.law {
            DissipationModel::HuntCrossley => 3.0 / (GRAVITY * self.dissipation) * decades,
            DissipationModel::Linear => {
                let ratio = 0.5 * RELAXATION_TIME * (GRAVITY / depth).sqrt();
                let bounce = (-std::f64::consts::PI * ratio).exp();
                let rate = 0.5 * RELAXATION_TIME * GRAVITY / depth;
                decades / rate + 2.0 * speed / (GRAVITY * (1.0 - bounce))
            }
        }
    }
}
