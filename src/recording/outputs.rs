//! Named outputs of a scene: single numbers, evaluated from a snapshot.

use crate::math::{BodyIndex, RigidTransform, ScalarJointIndex, Vector3};
use crate::stepping::{ContactPatch, Snapshot};

/// The measured part of a contact force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForceComponent {
    /// Its component along a direction fixed in the world.
    AlongWorld(Vector3),
    /// Its component along a direction fixed in the body.
    AlongBody(Vector3),
    /// Its length.
    Magnitude,
    /// The sum over all faces of the force along the face's normal. It measures how hard the body is pressed
    /// from all directions together, and is not negative except for rounding.
    Normal,
}

/// The patches that an output sums over: those of a body, those between two bodies, or all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PatchFilter {
    /// The body; `None` for all.
    pub body: Option<BodyIndex>,
    /// The other body; `None` for any.
    pub other: Option<BodyIndex>,
}

impl PatchFilter {
    fn admits(&self, patch: &ContactPatch) -> bool {
        let pair = (patch.body_A, patch.body_B);
        let fits = |body: BodyIndex, other: BodyIndex| {
            self.body.is_none_or(|wanted| wanted == body) && self.other.is_none_or(|wanted| wanted == other)
        };
        fits(pair.0, pair.1) || fits(pair.1, pair.0)
    }
    fn patches<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a ContactPatch> {
        snapshot.contact_patches().iter().filter(|patch| self.admits(patch))
    }
}

/// The quantity that an output measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Coordinate `axis` (0, 1, 2) of the origin of `body` in the frame of `reference` \[m\].
    Position {
        /// The body.
        body: BodyIndex,
        /// The body in whose frame it is measured; usually the world.
        reference: BodyIndex,
        /// 0, 1, 2 for x, y, z.
        axis: usize,
    },
    /// Roll, pitch or yaw of a body in the world \[rad\]: R_WB = Rz(yaw) Ry(pitch) Rx(roll); `axis` is
    /// 0, 1, 2 in that order.
    RollPitchYaw {
        /// The body.
        body: BodyIndex,
        /// 0 for roll, 1 for pitch, 2 for yaw.
        axis: usize,
    },
    /// The angle of a body's axis above the horizontal plane \[rad\], -pi/2 to pi/2: asin of its world z
    /// component.
    AxisElevation {
        /// The body.
        body: BodyIndex,
        /// Unit axis, fixed in the body.
        axis_B: Vector3,
    },
    /// The angle between a body's axis and a world direction \[rad\], 0 to pi.
    AxisAngle {
        /// The body.
        body: BodyIndex,
        /// Unit axis, fixed in the body.
        axis_B: Vector3,
        /// Unit direction in the world.
        to_W: Vector3,
    },
    /// Position of a joint \[rad\] or \[m\].
    JointPosition(ScalarJointIndex),
    /// Velocity of a joint [rad/s] or [m/s].
    JointVelocity(ScalarJointIndex),
    /// Effort of a joint's actuator [N m] or \[N\].
    JointEffort(ScalarJointIndex),
    /// A net contact force on a body over the last step \[N\].
    ContactForce {
        /// The body that the force acts on.
        body: BodyIndex,
        /// Only the force from this body.
        other: Option<BodyIndex>,
        /// The part.
        component: ForceComponent,
    },
    /// Contact area \[m2\].
    ContactArea(PatchFilter),
    /// Number of contact faces [-].
    FaceCount(PatchFilter),
    /// A value that an inertial measurement unit measures.
    Imu {
        /// The body that carries the unit.
        body: BodyIndex,
        /// The pose of the unit S in the body.
        X_BS: RigidTransform,
        /// The index of the value in [`IMU_VALUES`].
        value: usize,
    },
}

/// The values of an inertial measurement unit, with their units: its orientation in the world as a
/// quaternion, and in its own axes the angular velocity and the acceleration. As in `sensor_msgs/Imu`,
/// the acceleration contains the reaction to gravity: +9.81 m/s2 upwards at rest, and 0 in free fall. It
/// is the mean over the last step.
pub const IMU_VALUES: [(&str, &str); 10] = [
    ("qw", "1"),
    ("qx", "1"),
    ("qy", "1"),
    ("qz", "1"),
    ("wx", "rad/s"),
    ("wy", "rad/s"),
    ("wz", "rad/s"),
    ("ax", "m/s2"),
    ("ay", "m/s2"),
    ("az", "m/s2"),
];

impl Quantity {
    /// Its value in `snapshot`.
    pub fn evaluate(&self, snapshot: &Snapshot) -> f64 {
        match *self {
            Quantity::Position { body, reference, axis } => {
                let X_RB = snapshot.X_WB[reference].inv_mul(&snapshot.X_WB[body]);
                X_RB.translation.vector[axis]
            }
            Quantity::RollPitchYaw { body, axis } => {
                let (roll, pitch, yaw) = snapshot.X_WB[body].rotation.euler_angles();
                [roll, pitch, yaw][axis]
            }
            Quantity::AxisElevation { body, axis_B } => {
                (snapshot.X_WB[body].rotation * axis_B).z.clamp(-1.0, 1.0).asin()
            }
            Quantity::AxisAngle { body, axis_B, to_W } => (snapshot.X_WB[body].rotation * axis_B).angle(&to_W),
            Quantity::JointPosition(joint) => snapshot.joint_position[joint],
            Quantity::JointVelocity(joint) => snapshot.joint_velocity[joint],
            Quantity::JointEffort(joint) => snapshot.joint_effort[joint],
            Quantity::ContactForce { body, other, component } => contact_force(snapshot, body, other, component),
            Quantity::ContactArea(filter) => total(filter.patches(snapshot).map(|patch| patch.area)),
            Quantity::Imu { body, X_BS, value } => imu(snapshot, body, &X_BS)[value],
            Quantity::FaceCount(filter) => total(filter.patches(snapshot).map(|patch| patch.faces.area.len() as f64)),
        }
    }
}

/// The values of [`IMU_VALUES`].
fn imu(snapshot: &Snapshot, body: BodyIndex, X_BS: &RigidTransform) -> [f64; 10] {
    let (V_WB, A_WB) = (&snapshot.V_WB[body], &snapshot.A_WB[body]);
    let R_WB = snapshot.X_WB[body].rotation;
    let R_WS = R_WB * X_BS.rotation;
    let p_BS_W = R_WB * X_BS.translation.vector;
    let turning = A_WB.w.cross(&p_BS_W) + V_WB.w.cross(&V_WB.w.cross(&p_BS_W));
    let in_sensor = R_WS.inverse();
    let (w, a) = (in_sensor * V_WB.w, in_sensor * (A_WB.v + turning - snapshot.gravity_W));
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&R_WS);
    [q.w, q.i, q.j, q.k, w.x, w.y, w.z, a.x, a.y, a.z]
}

/// The sum. An empty sum is +0; `Iterator::sum` gives -0, which would appear in recordings.
fn total(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, term| sum + term)
}

fn contact_force(snapshot: &Snapshot, body: BodyIndex, other: Option<BodyIndex>, component: ForceComponent) -> f64 {
    let filter = PatchFilter { body: Some(body), other };
    if component == ForceComponent::Normal {
        let pressed = |patch: &ContactPatch| {
            total(patch.faces.force_B_W.iter().zip(&patch.faces.normal_W).map(|(force, normal)| force.dot(normal)))
        };
        return total(filter.patches(snapshot).map(pressed));
    }
    // F_BC acts on B: the force on the body A of a patch is the opposite.
    let on_body = |patch: &ContactPatch| if patch.body_B == body { patch.F_BC_W.f } else { -patch.F_BC_W.f };
    let force_W: Vector3 = filter.patches(snapshot).map(on_body).fold(Vector3::zeros(), |sum, force| sum + force);
    match component {
        ForceComponent::AlongWorld(direction_W) => force_W.dot(&direction_W),
        ForceComponent::AlongBody(direction_B) => force_W.dot(&(snapshot.X_WB[body].rotation * direction_B)),
        ForceComponent::Magnitude | ForceComponent::Normal => force_W.norm(),
    }
}

/// A quantity with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Name, unique in its scene.
    pub name: String,
    /// Unit, as in `rad`.
    pub unit: &'static str,
    /// The measured quantity.
    pub quantity: Quantity,
}

/// The named outputs of a scene, in the order of its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    outputs: Vec<Output>,
    values: Vec<f64>,
}

impl Outputs {
    /// The outputs; all values are NaN until evaluated.
    pub fn new(outputs: Vec<Output>) -> Self {
        let values = vec![f64::NAN; outputs.len()];
        Self { outputs, values }
    }
    /// The outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }
    /// Evaluates all outputs and returns their values, in the same order. Allocates nothing.
    pub fn evaluate(&mut self, snapshot: &Snapshot) -> &[f64] {
        for (value, output) in self.values.iter_mut().zip(&self.outputs) {
            *value = output.quantity.evaluate(snapshot);
        }
        &self.values
    }
    /// The values of the last evaluation.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
    /// The last value of the output of that name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.outputs.iter().position(|output| output.name == name).map(|position| self.values[position])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Index, IndexVec, RigidTransform, Rotation, SpatialForce};
    use crate::stepping::PatchFaces;

    fn patch(A: usize, B: usize, force_B_W: Vector3, normal_W: Vector3, area: f64) -> ContactPatch {
        let faces = PatchFaces {
            force_B_W: vec![force_B_W / 2.0; 2],
            normal_W: vec![normal_W; 2],
            area: vec![area / 2.0; 2],
            ..PatchFaces::default()
        };
        ContactPatch {
            body_A: BodyIndex::from_usize(A),
            body_B: BodyIndex::from_usize(B),
            F_BC_W: SpatialForce { f: force_B_W, ..SpatialForce::ZERO },
            area,
            faces,
            ..ContactPatch::default()
        }
    }

    /// Action and reaction: the force on the body A of a patch is the opposite of the force stored for B.
    /// `other` and `body` select patches. The normal parts add up although the vectors cancel. Numbers by
    /// hand.
    #[test]
    fn contact_outputs_choose_patches_and_signs() {
        let quarter = Rotation::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_2);
        let mut X_WB = IndexVec::from_elem(RigidTransform::identity(), 4);
        X_WB[BodyIndex::from_usize(2)] = RigidTransform::from_parts(Vector3::zeros().into(), quarter);
        let (x, y) = (Vector3::x(), Vector3::y());
        let mut snapshot = Snapshot::default();
        snapshot.X_WB = X_WB;
        // Body 2 is squeezed by 1 along +x with 3 N (and 1 N of friction along y), by 3 along -x with 3 N.
        snapshot.set_contact_patches(vec![patch(1, 2, x * 3.0 + y, x, 0.25), patch(2, 3, x * 3.0, x, 0.5)]);
        let [left, squeezed, right] = [1, 2, 3].map(BodyIndex::from_usize);
        let force = |body, other, component| Quantity::ContactForce { body, other, component }.evaluate(&snapshot);
        assert_eq!(force(squeezed, None, ForceComponent::AlongWorld(x)), 0.0);
        assert_eq!(force(squeezed, Some(left), ForceComponent::AlongWorld(x)), 3.0);
        assert_eq!(force(squeezed, Some(right), ForceComponent::AlongWorld(x)), -3.0);
        assert_eq!(force(left, Some(squeezed), ForceComponent::AlongWorld(x)), -3.0);
        assert_eq!(force(left, Some(right), ForceComponent::Magnitude), 0.0);
        assert!(
            (force(squeezed, None, ForceComponent::AlongBody(x)) - 1.0).abs() < 1e-15,
            "its x axis is the world's y"
        );
        assert_eq!(force(squeezed, None, ForceComponent::Magnitude), 1.0);
        assert_eq!(force(squeezed, None, ForceComponent::Normal), 6.0);
        let all = PatchFilter::default();
        let one = PatchFilter { body: Some(right), other: None };
        assert_eq!(Quantity::ContactArea(all).evaluate(&snapshot), 0.75);
        assert_eq!(Quantity::ContactArea(one).evaluate(&snapshot), 0.5);
        assert_eq!(Quantity::FaceCount(one).evaluate(&snapshot), 2.0);
    }
}
