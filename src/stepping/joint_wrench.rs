//! Loads of joints: the efforts of contact about their axes, and the wrench that a force-torque sensor
//! measures.

use super::settings::Stepping;
use super::simulation::Simulation;
use crate::math::{BodyIndex, Index, IndexVec, JointIndex, RigidTransform, SpatialForce, Vector3};
use crate::multibody::{JointKind, Model};
use crate::scene::Scene;

/// The joint that carries each body. Followed from joint to joint, it is the path from any body to the world.
#[derive(Clone, Debug)]
pub struct JointPaths {
    carrier: IndexVec<BodyIndex, Option<JointIndex>>,
}

impl JointPaths {
    /// The paths through `model`.
    pub fn new(model: &Model) -> Self {
        let mut carrier = IndexVec::from_elem(None, model.bodies().len());
        for (index, joint) in model.joints().iter_enumerated() {
            carrier[joint.child] = Some(index);
        }
        Self { carrier }
    }

    /// Whether `joint` carries `body`, directly or through other joints.
    fn carries(&self, model: &Model, joint: JointIndex, body: BodyIndex) -> bool {
        let mut at = body;
        // No path is longer than the number of bodies.
        for _ in 0..self.carrier.len() {
            match self.carrier[at] {
                Some(carrier) if carrier == joint => return true,
                Some(carrier) => at = model.joints()[carrier].parent,
                None => return false,
            }
        }
        false
    }

    /// Computes tau = J^T F, the efforts that contact exerts about the joints' axes [N m] or \[N\], in the
    /// order of [`Scene::joint_names`]. A mimic joint has an effort of its own, which is not added to that of
    /// its leader. `F_BBo_W` are the net contact wrenches on the bodies.
    pub fn contact_efforts(
        &self,
        scene: &Scene,
        X_WB: &IndexVec<BodyIndex, RigidTransform>,
        F_BBo_W: &IndexVec<BodyIndex, SpatialForce>,
        efforts: &mut Vec<f64>,
    ) {
        let model = scene.model();
        efforts.clear();
        efforts.resize(scene.joints().len(), 0.0);
        for (body, F) in F_BBo_W.iter_enumerated().filter(|(_, F)| **F != SpatialForce::ZERO) {
            let p_WBo = X_WB[body].translation.vector;
            let mut at = body;
            for _ in 0..self.carrier.len() {
                let Some(carrier) = self.carrier[at] else { break };
                let joint = &model.joints()[carrier];
                if let Some(index) = scene.joints().iter().position(|scalar| *scalar == carrier) {
                    let X_WF = X_WB[joint.parent] * joint.X_PF;
                    let axis_W = X_WF.rotation * joint.axis_F;
                    efforts[index] += if joint.kind == JointKind::Prismatic {
                        axis_W.dot(&F.f)
                    } else {
                        axis_W.dot(&(F.tau + (p_WBo - X_WF.translation.vector).cross(&F.f)))
                    };
                }
                at = joint.parent;
            }
        }
    }
}

/// The motion of the bodies that a joint carries, from [`ForceTorqueSensor::motion`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedMotion {
    /// Their spatial momentum about the child's origin C [N m s, N s, world].
    pub momentum: SpatialForce,
    /// Their first moment of mass about C [kg m, world].
    pub first_moment: Vector3,
    /// C [m, world].
    pub p_WC: Vector3,
}

/// A force-torque sensor in a joint, fixed or not.
#[derive(Clone, Debug)]
pub struct ForceTorqueSensor {
    child: BodyIndex,
    /// The bodies that the joint carries.
    carried: Vec<BodyIndex>,
}

impl ForceTorqueSensor {
    /// The sensor in `joint`.
    pub fn new(scene: &Scene, joint: JointIndex) -> Self {
        let model = scene.model();
        let paths = JointPaths::new(model);
        let bodies = (0..model.bodies().len()).map(BodyIndex::from_usize);
        let carried = bodies.filter(|body| paths.carries(model, joint, *body)).collect();
        Self { child: model.joints()[joint].child, carried }
    }

    /// The body that the joint moves or holds: the sensor's frame.
    pub fn child(&self) -> BodyIndex {
        self.child
    }

    /// The motion of all bodies that the joint carries.
    pub fn motion(&self, simulation: &Simulation) -> CarriedMotion {
        let (model, data) = (simulation.scene().model(), simulation.data());
        let p_WC = data.X_WB[self.child].translation.vector;
        let (mut momentum, mut first_moment) = (SpatialForce::ZERO, Vector3::zeros());
        for body in &self.carried {
            let (X_WB, V_WB) = (&data.X_WB[*body], &data.V_WB[*body]);
            let inertia = model.bodies()[*body].inertia.rotate(&X_WB.rotation);
            let p_CBo = X_WB.translation.vector - p_WC;
            momentum += inertia.mul_velocity(V_WB).shift(&-p_CBo);
            first_moment += (p_CBo + inertia.center_of_mass()) * inertia.mass;
        }
        CarriedMotion { momentum, first_moment, p_WC }
    }

    /// The wrench that the joint exerted on its child over the last step, about the child's origin and in its
    /// axes [N m, N]. It is the rate of change of the momentum of all bodies that the joint carries, minus
    /// weight, contact and external wrenches. Forces of loop closures on these bodies count as the joint's.
    /// With the angular momentum L about the child's moving origin and the linear momentum p, the torque is
    /// dL/dt + v x p, the same in any inertial frame. `before` is the motion at the start of the step. A
    /// quasistatic step has no momentum, and the wrench is that of the equilibrium. Rotor inertias are left
    /// out.
    pub fn measure(&self, simulation: &Simulation, before: &CarriedMotion) -> SpatialForce {
        let (model, data) = (simulation.scene().model(), simulation.data());
        let rate = match simulation.settings().stepping {
            Stepping::Dynamic(_) | Stepping::Spook(_) | Stepping::Continuous(_) => 1.0 / simulation.settings().step(),
            Stepping::Quasistatic(_) => 0.0,
        };
        let after = self.motion(simulation);
        let X_WC = &data.X_WB[self.child];
        let change = after.momentum + -before.momentum;
        // p = m v + d(first moment)/dt and v x v = 0, so v x p needs the first moment only. v and the rate
        // are means over the step
        let v = (after.p_WC - before.p_WC) * rate;
        let mut wrench = change * rate;
        wrench.tau += v.cross(&((after.first_moment - before.first_moment) * rate));
        for body in &self.carried {
            let X_WB = &data.X_WB[*body];
            let inertia = &model.bodies()[*body].inertia;
            let weight = model.gravity_W() * inertia.mass;
            let p_BoBcm_W = X_WB.rotation * inertia.center_of_mass();
            let gravity = SpatialForce { tau: p_BoBcm_W.cross(&weight), f: weight };
            let outside = gravity + simulation.body_wrenches()[*body] + simulation.external_wrenches()[*body];
            wrench += -outside.shift(&(X_WC.translation.vector - X_WB.translation.vector));
        }
        let to_child = |vector: Vector3| X_WC.rotation.inverse() * vector;
        SpatialForce { tau: to_child(wrench.tau), f: to_child(wrench.f) }
    }
}
