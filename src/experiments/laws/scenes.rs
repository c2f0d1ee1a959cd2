//! Scenes and modes of the laws.

use std::sync::Arc;

use crate::contact::ContactProperties;
use crate::experiments::ExperimentError;
pub(super) use crate::experiments::materials::rigid;
use crate::experiments::materials::{self, box_moments};
use crate::geometry::Shape;
use crate::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, SpatialVelocity, Vector3};
use crate::scene::SceneBuilder;
use crate::stepping::{JointCommand, QuasistaticStepping, Simulation, SpookStepping, StepSettings, Stepping};

/// Acceleration of gravity [m/s2].
pub(super) const GRAVITY: f64 = 9.81;
/// Gravity along -z [m/s2].
pub(super) const DOWN: Vector3 = Vector3::new(0.0, 0.0, -GRAVITY);

/// A stepping mode with its defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Dynamic,
    Quasistatic,
    Spook,
}

impl Mode {
    pub(super) const ALL: [Self; 3] = [Self::Dynamic, Self::Quasistatic, Self::Spook];
    /// Modes with momentum.
    pub(super) const MOVING: [Self; 2] = [Self::Dynamic, Self::Spook];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Quasistatic => "quasistatic",
            Self::Spook => "spook",
        }
    }

    /// Steps of `step` \[s\], and of ten times that in quasistatic steps, whose equilibria do not depend on
    /// it.
    pub(super) fn settings(self, step: f64) -> StepSettings {
        let step = if self == Self::Quasistatic { 10.0 * step } else { step };
        let stepping = match self {
            Self::Dynamic => Stepping::default(),
            Self::Quasistatic => Stepping::Quasistatic(QuasistaticStepping::default()),
            Self::Spook => Stepping::Spook(SpookStepping::default()),
        };
        StepSettings { step_ns: (step * 1e9).round() as u64, stepping, ..StepSettings::default() }
    }
}

pub(super) fn compliant(modulus: f64, dissipation: f64, friction: f64) -> ContactProperties {
    ContactProperties { hunt_crossley_dissipation: Some(dissipation), ..materials::compliant(modulus, friction) }
}

/// A body of a scene: its shape, mass, moments, and pose at the start.
pub(super) struct Body {
    pub(super) shape: Shape,
    pub(super) mass: f64,
    pub(super) moments: Vector3,
    pub(super) start: RigidTransform,
    pub(super) velocity: SpatialVelocity,
}

impl Body {
    /// A homogeneous box at rest.
    pub(super) fn cuboid(size: Vector3, mass: f64, height: f64) -> Self {
        Self {
            shape: Shape::Box { size },
            mass,
            moments: box_moments(mass, &size),
            start: RigidTransform::translation(0.0, 0.0, height),
            velocity: SpatialVelocity::ZERO,
        }
    }

    /// A homogeneous ball at rest.
    pub(super) fn ball(radius: f64, mass: f64, height: f64) -> Self {
        Self {
            shape: Shape::Sphere { radius },
            mass,
            moments: Vector3::repeat(0.4 * mass * radius * radius),
            start: RigidTransform::translation(0.0, 0.0, height),
            velocity: SpatialVelocity::ZERO,
        }
    }
}

/// Free bodies of the same material over the rigid half space z <= 0.
pub(super) struct Ground {
    pub(super) simulation: Simulation,
    pub(super) bodies: Vec<BodyIndex>,
}

impl Ground {
    pub(super) fn new(
        bodies: &[Body],
        material: &ContactProperties,
        gravity: Vector3,
        settings: StepSettings,
    ) -> Result<Self, ExperimentError> {
        let mut builder = SceneBuilder::new();
        let here = RigidTransform::identity();
        let ground = ContactProperties { compliant: Some(false), ..material.clone() };
        builder.add_geometry(BodyIndex::WORLD, "ground", here, Shape::HalfSpace, &ground)?;
        let mut indices = Vec::new();
        for (number, body) in bodies.iter().enumerate() {
            let moments = Matrix3::from_diagonal(&body.moments);
            let inertia = SpatialInertia::from_central(body.mass, &Vector3::zeros(), &moments);
            let index = builder.add_body(&format!("body{number}"), inertia);
            builder.add_geometry(index, "shape", here, body.shape.clone(), material)?;
            indices.push(index);
        }
        let scene = Arc::new(builder.build(gravity)?);
        let mut state = scene.model().default_state();
        for (body, index) in bodies.iter().zip(&indices) {
            scene.model().set_free_body_pose(&mut state, *index, &body.start);
            scene.model().set_free_body_velocity(&mut state, *index, &body.velocity);
        }
        Ok(Self { simulation: Simulation::new(scene, state, settings)?, bodies: indices })
    }

    /// Takes steps for `seconds`.
    pub(super) fn run(&mut self, seconds: f64) -> Result<(), ExperimentError> {
        run(&mut self.simulation, &JointCommand::default(), seconds)
    }

    pub(super) fn pose(&self, number: usize) -> RigidTransform {
        self.bodies.get(number).map_or_else(RigidTransform::identity, |body| self.simulation.data().X_WB[*body])
    }

    pub(super) fn velocity(&self, number: usize) -> SpatialVelocity {
        self.bodies.get(number).map_or(SpatialVelocity::ZERO, |body| self.simulation.data().V_WB[*body])
    }

    /// Gives body 0 a velocity, in its present pose.
    pub(super) fn throw(&mut self, velocity: SpatialVelocity) -> Result<(), ExperimentError> {
        let mut state = self.simulation.state().clone();
        if let Some(body) = self.bodies.first() {
            self.simulation.scene().model().set_free_body_velocity(&mut state, *body, &velocity);
        }
        Ok(self.simulation.set_state(state)?)
    }
}

/// Takes steps with `command` for `seconds`.
pub(super) fn run(simulation: &mut Simulation, command: &JointCommand, seconds: f64) -> Result<(), ExperimentError> {
    let steps = (seconds / simulation.settings().step()).round() as u64;
    for _ in 0..steps {
        simulation.step(command)?;
    }
    Ok(())
}
