//! The measurements of the controller, limited to those of a real robot.

use super::grip::closing_force;
use super::task::{Task, TouchSensor};
use crate::math::{BodyIndex, Index, JointIndex, Matrix6, ScalarJointIndex, Vector3, Vector6};
use crate::multibody::jacobian::write_columns;
use crate::multibody::{Data, Model, positions};
use crate::scene::Scene;

/// Contact forces are low-pass filtered with this time constant before they are compared \[s\].
const FILTER_TIME: f64 = 0.02;
/// Relative size of a singular value of J below which it is not used for an estimate of force [-].
const FORCE_SINGULAR: f64 = 0.02;

/// The measurements of the robot's sensors at one time.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// Positions of the scene's joints, in the order of [`Scene::joint_names`] \[rad\] or \[m\].
    pub positions: Vec<f64>,
    /// Their velocities [rad/s] or [m/s].
    pub velocities: Vec<f64>,
    /// Efforts that contact exerts about their axes [N m] or \[N\]; empty if the task does not need them.
    pub external_torques: Vec<f64>,
    /// Contact forces on the bodies of [`Task::sensing_bodies`], in the bodies' axes \[N\].
    pub forces: Vec<Vector3>,
}

/// Quantities derived from measurements.
#[derive(Clone, Debug)]
pub(super) struct Senses {
    touch: TouchSource,
    /// Indices of the pads among [`Task::sensing_bodies`], in the order of the fingers.
    pads: Vec<usize>,
    /// The measured configuration.
    q: Vec<f64>,
    data: Data,
    /// Contact force on the tool, low-passed, in world axes \[N\].
    pub(super) force_W: Vector3,
    /// Grip force \[N\]: of force-controlled fingers their mean closing force, otherwise the smallest of the
    /// pads' forces, low-passed.
    pub(super) grip: f64,
}

/// The source of the contact force on the tool.
#[derive(Clone, Debug)]
enum TouchSource {
    Nothing,
    /// Body, and its index among [`Task::sensing_bodies`].
    Links(Vec<(BodyIndex, usize)>),
    /// The arm's joints with their indices in [`Scene::joint_names`], the columns of the Jacobian that belong
    /// to them, and the tool's body.
    Torques {
        joints: Vec<usize>,
        dofs: Vec<usize>,
        body: BodyIndex,
        columns: Vec<Vector6>,
    },
}

impl Senses {
    /// The senses of a task in a scene; `q` holds the coordinates of joints that are not measured.
    pub(super) fn new(task: &Task, scene: &Scene, arm: &[ScalarJointIndex], tool: BodyIndex, q: &[f64]) -> Self {
        let model = scene.model();
        let sensing = task.sensing_bodies();
        let index = |name: &str| sensing.iter().position(|sensing| *sensing == name);
        let touch = match &task.touch {
            None => TouchSource::Nothing,
            Some(TouchSensor::Links(links)) => {
                let link = |name: &String| Some((scene.body(name)?, index(name)?));
                TouchSource::Links(links.iter().filter_map(link).collect())
            }
            Some(TouchSensor::ExternalTorques) => {
                let all = model.body_dofs(tool);
                let column = |joint: &JointIndex| {
                    let start = model.joints()[*joint].v_start;
                    all.iter().position(|dof| dof.to_usize() == start)
                };
                let pairs =
                    arm.iter().filter_map(|joint| Some((joint.to_usize(), column(&scene.joints()[joint.to_usize()])?)));
                let (joints, dofs) = pairs.unzip();
                TouchSource::Torques { joints, dofs, body: tool, columns: vec![Vector6::zeros(); all.len()] }
            }
        };
        let pads = task.gripper.fingers.iter().filter_map(|finger| index(finger.pad.as_ref()?)).collect();
        let (q, data) = (q.to_vec(), Data::new(model));
        Self { touch, pads, q, data, force_W: Vector3::zeros(), grip: 0.0 }
    }

    /// Reads the measurements taken `dt` \[s\] after the previous ones.
    pub(super) fn update(&mut self, task: &Task, scene: &Scene, measured: &Measurement, dt: f64) {
        let model = scene.model();
        for (joint, position) in scene.joints().iter().zip(&measured.positions) {
            self.q[model.joints()[*joint].q_start] = *position;
        }
        positions(model, &self.q, &mut self.data);
        let share = dt / (FILTER_TIME + dt);
        let force_W = self.touch.force_W(model, &self.data, measured);
        self.force_W += (force_W - self.force_W) * share;
        let forces: Vec<Vector3> = self.pads.iter().filter_map(|pad| measured.forces.get(*pad).copied()).collect();
        self.grip = match &task.gripper.force_control {
            Some(control) => closing_force(&task.gripper.fingers, control, &forces),
            None => {
                let least = forces.iter().map(|force| force.norm()).reduce(f64::min).unwrap_or(0.0);
                self.grip + (least - self.grip) * share
            }
        };
    }
}

impl TouchSource {
    /// The contact force on the tool in world axes \[N\].
    fn force_W(&mut self, model: &Model, data: &Data, measured: &Measurement) -> Vector3 {
        match self {
            Self::Nothing => Vector3::zeros(),
            Self::Links(links) => {
                let force = |(body, index): &(BodyIndex, usize)| {
                    measured.forces.get(*index).map(|force| data.X_WB[*body].rotation * force)
                };
                links.iter().filter_map(force).sum()
            }
            Self::Torques { joints, dofs, body, columns } => {
                let p_WBo = data.X_WB[*body].translation.vector;
                write_columns(model, data, *body, &p_WBo, columns);
                let torque = |joint: &usize| measured.external_torques.get(*joint).copied().unwrap_or(0.0);
                let rows = dofs.iter().zip(joints.iter()).map(|(dof, joint)| (columns[*dof], torque(joint)));
                wrench_of_torques(rows).fixed_rows::<3>(3).into_owned()
            }
        }
    }
}

/// The wrench F of least norm with tau = J^T F, as (moment, force): F = (J J^T)^+ J tau, without directions
/// in which the torques hardly depend on F. `rows` are J's columns with their torques.
fn wrench_of_torques(rows: impl Iterator<Item = (Vector6, f64)>) -> Vector6 {
    let (mut gram, mut moment) = (Matrix6::zeros(), Vector6::zeros());
    for (column, torque) in rows {
        gram += column * column.transpose();
        moment += column * torque;
    }
    // Singular values of J are the square roots of these eigenvalues.
    let eigen = gram.symmetric_eigen();
    let largest = eigen.eigenvalues.max();
    let mut wrench = Vector6::zeros();
    for (value, direction) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > FORCE_SINGULAR * FORCE_SINGULAR * largest {
            wrench += direction * (direction.dot(&moment) / value);
        }
    }
    wrench
}
