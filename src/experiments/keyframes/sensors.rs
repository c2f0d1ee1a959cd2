//! The sensors of a simulated robot.

use super::controller::ControllerError;
use super::senses::Measurement;
use super::task::{Task, TouchSensor};
use crate::math::BodyIndex;
use crate::scene::Scene;
use crate::stepping::{JointPaths, Simulation};

/// The measurements of a task's controller in a simulation.
#[derive(Clone, Debug)]
pub struct Sensors {
    /// The bodies of [`Task::sensing_bodies`].
    bodies: Vec<BodyIndex>,
    /// For the torques of contact, if the task needs them.
    paths: Option<JointPaths>,
}

impl Sensors {
    /// The sensors that a task needs.
    ///
    /// # Errors
    /// A body that the scene does not have.
    pub fn new(task: &Task, scene: &Scene) -> Result<Self, ControllerError> {
        let body =
            |name: &str| scene.body(name).ok_or_else(|| ControllerError::Scene { kind: "body", name: name.to_owned() });
        let bodies = task.sensing_bodies().into_iter().map(body).collect::<Result<_, _>>()?;
        let torques = task.touch == Some(TouchSensor::ExternalTorques);
        Ok(Self { bodies, paths: torques.then(|| JointPaths::new(scene.model())) })
    }

    /// Writes the current measurements of the sensors.
    pub fn measure(&self, simulation: &Simulation, measured: &mut Measurement) {
        let (scene, state) = (simulation.scene(), simulation.state());
        let joints = || scene.joints().iter().map(|joint| &scene.model().joints()[*joint]);
        measured.positions.clear();
        measured.positions.extend(joints().map(|joint| joint.position(&state.q).unwrap_or(0.0)));
        measured.velocities.clear();
        measured.velocities.extend(joints().map(|joint| joint.velocity(&state.v).unwrap_or(0.0)));
        let (X_WB, wrenches) = (&simulation.data().X_WB, simulation.body_wrenches());
        measured.forces.clear();
        let force = |body: &BodyIndex| X_WB[*body].rotation.inverse() * wrenches[*body].f;
        measured.forces.extend(self.bodies.iter().map(force));
        match &self.paths {
            Some(paths) => paths.contact_efforts(scene, X_WB, wrenches, &mut measured.external_torques),
            None => measured.external_torques.clear(),
        }
    }
}
