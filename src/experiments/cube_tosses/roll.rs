//! One toss in simulation, from its first measured state.

use std::sync::Arc;

use super::file::{Toss, TossState, WIDTH};
use crate::contact::ContactProperties;
use crate::experiments::ExperimentError;
use crate::geometry::Shape;
use crate::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, SpatialVelocity, Vector3};
use crate::scene::SceneBuilder;
use crate::stepping::{JointCommand, Simulation, StepSettings};

/// Mass of the cube \[kg\] and its moment of inertia about each axis [kg m2]: it is hollow.
const MASS: (f64, f64) = (0.37, 8.1e-4);
/// Acceleration of gravity [m/s2].
const GRAVITY: f64 = 9.81;
/// Rate of the recordings \[Hz\].
pub(super) const RATE: f64 = 148.0;
/// Steps between two rows of a recording.
const STEPS: u32 = 8;

/// The contact of the cube with the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CubeContact {
    /// Points of rigid contact.
    Rigid {
        /// Friction coefficient [-].
        friction: f64,
        /// Coefficient of restitution [-].
        restitution: f64,
    },
    /// A cube with a pressure field on a rigid table.
    Compliant {
        /// Friction coefficient [-].
        friction: f64,
        /// Modulus \[Pa\].
        modulus: f64,
        /// Hunt-Crossley dissipation [s/m].
        dissipation: f64,
    },
}

impl CubeContact {
    /// The materials of the cube and of the table.
    fn properties(self) -> (ContactProperties, ContactProperties) {
        let rigid = |friction: f64| ContactProperties {
            compliant: Some(false),
            mu_dynamic: Some(friction),
            ..ContactProperties::default()
        };
        match self {
            Self::Rigid { friction, restitution } => {
                let both = ContactProperties { restitution: Some(restitution), ..rigid(friction) };
                (both.clone(), both)
            }
            Self::Compliant { friction, modulus, dissipation } => {
                let cube = ContactProperties {
                    compliant: Some(true),
                    hydroelastic_modulus: Some(modulus),
                    hunt_crossley_dissipation: Some(dissipation),
                    ..rigid(friction)
                };
                (cube, ContactProperties { hunt_crossley_dissipation: Some(dissipation), ..rigid(friction) })
            }
        }
    }
}

/// Errors of a simulated toss, means over its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TossErrors {
    /// Distance of the centre in per cent of the cube's width.
    pub position: f64,
    /// Angle between both rotations \[degrees\].
    pub rotation: f64,
    /// Steps that did not converge.
    pub failed: u32,
}

/// The states of the cube at the rows of `toss`, from its first state, and its errors.
///
/// # Errors
/// A step that fails.
pub fn roll(toss: &Toss, contact: CubeContact) -> Result<(Vec<TossState>, TossErrors), ExperimentError> {
    let (cube_properties, table) = contact.properties();
    let mut builder = SceneBuilder::new();
    let here = RigidTransform::identity();
    builder.add_geometry(BodyIndex::WORLD, "table", here, Shape::HalfSpace, &table)?;
    let inertia = SpatialInertia::from_central(MASS.0, &Vector3::zeros(), &(Matrix3::identity() * MASS.1));
    let cube = builder.add_body("cube", inertia);
    builder.add_geometry(cube, "cube", here, Shape::Box { size: Vector3::repeat(WIDTH) }, &cube_properties)?;
    let scene = Arc::new(builder.build(Vector3::new(0.0, 0.0, -GRAVITY))?);
    let mut state = scene.model().default_state();
    let Some(start) = toss.states.first() else { return Ok((Vec::new(), TossErrors::default())) };
    let pose = RigidTransform::from_parts(start.position.into(), start.rotation);
    scene.model().set_free_body_pose(&mut state, cube, &pose);
    scene.model().set_free_body_velocity(&mut state, cube, &SpatialVelocity::new(start.spin, start.velocity));
    let step_ns = (1e9 / (RATE * f64::from(STEPS))).round() as u64;
    let mut simulation = Simulation::new(scene, state, StepSettings { step_ns, ..StepSettings::default() })?;
    let mut states = vec![*start];
    let mut errors = TossErrors::default();
    let share = 1.0 / toss.states.len() as f64;
    for measured in &toss.states[1..] {
        for _ in 0..STEPS {
            let report = simulation.step(&JointCommand::default())?;
            errors.failed += u32::from(!report.solver_converged);
        }
        let (X_WB, V_WB) = (simulation.data().X_WB[cube], simulation.data().V_WB[cube]);
        let (position, rotation) = (X_WB.translation.vector, X_WB.rotation);
        errors.position += share * 100.0 / WIDTH * (position - measured.position).norm();
        errors.rotation += share * angle_between(&rotation, &measured.rotation).to_degrees();
        states.push(TossState { position, rotation, velocity: V_WB.v, spin: V_WB.w });
    }
    Ok((states, errors))
}

/// The angle between two rotations \[rad\]. The trace alone gives no number if rounding takes it beyond 3.
fn angle_between(a: &Rotation, b: &Rotation) -> f64 {
    let turn = a.inverse() * b;
    let m = turn.matrix();
    let axis = Vector3::new(m.m32 - m.m23, m.m13 - m.m31, m.m21 - m.m12);
    axis.norm().atan2(m.trace() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_of_equal_rotations_is_a_number() {
        for i in 0..1000 {
            let a = Rotation::from_euler_angles(0.1 * f64::from(i), 0.2, -0.07 * f64::from(i));
            assert!(angle_between(&a, &a) < 1e-15, "{i}");
            let b = a * Rotation::from_euler_angles(3.0, 0.0, 0.0);
            assert!((angle_between(&a, &b) - 3.0).abs() < 1e-14, "{i}");
        }
    }
}
