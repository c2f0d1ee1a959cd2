//! Builds a model from bodies and joints. A joint is added after its two bodies and is checked at once.
//! Bodies and mimics are checked when the model is built.

use super::body::Body;
use super::error::{ModelError, check_finite};
use super::joint::{Joint, JointKind, JointSpec, Mimic, MimicOf};
use super::model::Model;
use super::topology::Topology;
use crate::math::{BodyIndex, Index, IndexVec, JointIndex, SpatialInertia, Vector3};

/// The direction of a shorter axis is dominated by rounding [-].
const AXIS_LENGTH_MIN: f64 = 1e-9;

/// Collects bodies and joints and makes a [`Model`] of them.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    bodies: IndexVec<BodyIndex, Body>,
    joints: IndexVec<JointIndex, Joint>,
    mimics: Vec<(JointIndex, Mimic)>,
}

impl Default for ModelBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelBuilder {
    /// A model with only the world: body 0, named "world".
    pub fn new() -> Self {
        let world = Body { name: "world".to_owned(), inertia: SpatialInertia::ZERO, parent_joint: None };
        Self { bodies: std::iter::once(world).collect(), joints: IndexVec::new(), mimics: Vec::new() }
    }

    /// Adds a body with its inertia about its origin Bo in its axes. Names and numbers are checked by
    /// [`build`](Self::build).
    pub fn add_body(&mut self, name: &str, inertia: SpatialInertia) -> BodyIndex {
        self.bodies.push(Body { name: name.to_owned(), inertia, parent_joint: None })
    }

    /// Number of bodies so far, including the world.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// Adds a joint between two bodies that have been added.
    ///
    /// # Errors
    /// A name that is taken, a body that does not exist or has a parent already, an axis without direction,
    /// or a number out of range. The builder is unchanged then.
    pub fn add_joint(&mut self, spec: JointSpec) -> Result<JointIndex, ModelError> {
        if self.joints.iter().any(|joint| joint.name == spec.name) {
            return Err(ModelError::DuplicateJoint { name: spec.name });
        }
        for body in [spec.parent, spec.child] {
            if self.bodies.get(body).is_none() {
                let count = self.bodies.len();
                return Err(ModelError::UnknownBody { joint: spec.name, body: body.to_usize(), count });
            }
        }
        check_numbers(&spec)?;
        if spec.child == BodyIndex::WORLD {
            return Err(ModelError::WorldIsChild { joint: spec.name });
        }
        if let Some(first) = self.bodies[spec.child].parent_joint {
            return Err(ModelError::TwoParents {
                body: self.bodies[spec.child].name.clone(),
                first: self.joints[first].name.clone(),
                second: spec.name,
            });
        }
        let axis_F = unit_axis(&spec)?;
        let child = spec.child;
        let joint = self.joints.push(Joint {
            name: spec.name,
            parent: spec.parent,
            child,
            X_PF: spec.X_PF,
            kind: spec.kind,
            axis_F,
            limits: spec.limits,
            damping: spec.damping,
            friction: spec.friction,
            armature: spec.armature,
            spring: spec.spring,
            mimic: None,
            q_start: 0,
            v_start: 0,
            nq: spec.kind.nq(),
            nv: spec.kind.nv(),
        });
        self.bodies[child].parent_joint = Some(joint);
        self.mimics.extend(spec.mimic.map(|mimic| (joint, mimic)));
        Ok(joint)
    }

    /// The model, in the gravity field `gravity_W` [m/s2, world]. Bodies without a joint get a floating joint
    /// to the world, named after the body (with `_free` if another joint has that name) and numbered after
    /// all other joints.
    ///
    /// # Errors
    /// Duplicate names, numbers that are not finite, joints that form a ring, unresolved mimics.
    pub fn build(mut self, gravity_W: Vector3) -> Result<Model, ModelError> {
        check_finite("gravity", "a component", gravity_W.as_slice())?;
        for (index, body) in self.bodies.iter_enumerated() {
            check_body(body)?;
            if self.bodies.as_slice()[..index.to_usize()].iter().any(|other| other.name == body.name) {
                return Err(ModelError::DuplicateBody { name: body.name.clone() });
            }
        }
        for body in self.bodies.indices().skip(1) {
            if self.bodies[body].parent_joint.is_none() {
                let mut name = self.bodies[body].name.clone();
                while self.joints.iter().any(|joint| joint.name == name) {
                    name += "_free";
                }
                self.add_joint(JointSpec::new(&name, BodyIndex::WORLD, body, JointKind::Floating))?;
            }
        }
        resolve_mimics(&mut self.joints, &self.mimics)?;
        let topology = Topology::new(&self.bodies, &mut self.joints)?;
        Ok(Model::new(self.bodies, self.joints, topology, gravity_W))
    }
}

fn unit_axis(spec: &JointSpec) -> Result<Vector3, ModelError> {
    if !spec.kind.has_axis() {
        return Ok(Vector3::z());
    }
    let length = spec.axis_F.norm();
    if !(length >= AXIS_LENGTH_MIN && length.is_finite()) {
        return Err(ModelError::ZeroAxis { joint: spec.name.clone(), length });
    }
    Ok(spec.axis_F / length)
}

fn check_body(body: &Body) -> Result<(), ModelError> {
    check_finite(&body.name, "the first mass moment", body.inertia.first_moment.as_slice())?;
    check_finite(&body.name, "the rotational inertia", body.inertia.rotational.as_slice())?;
    let value = body.inertia.mass;
    if !(value >= 0.0 && value.is_finite()) {
        let (what, expected) = ("the mass", "a finite number that is not negative");
        return Err(ModelError::InvalidNumber { name: body.name.clone(), what, value, expected });
    }
    Ok(())
}

fn check_numbers(spec: &JointSpec) -> Result<(), ModelError> {
    check_finite(&spec.name, "the placement", spec.X_PF.translation.vector.as_slice())?;
    check_finite(&spec.name, "the placement", spec.X_PF.rotation.matrix().as_slice())?;
    let invalid =
        |what, value, expected| Err(ModelError::InvalidNumber { name: spec.name.clone(), what, value, expected });
    for (what, value) in [("damping", spec.damping), ("friction", spec.friction), ("armature", spec.armature)] {
        if !(value >= 0.0 && value.is_finite()) {
            return invalid(what, value, "a finite number that is not negative");
        }
    }
    if !(spec.spring.stiffness >= 0.0 && spec.spring.stiffness.is_finite() && spec.spring.reference.is_finite()) {
        return invalid(
            "spring",
            spec.spring.stiffness,
            "a finite stiffness that is not negative, with a finite reference",
        );
    }
    if spec.spring.stiffness > 0.0 && spec.kind.nv() != 1 {
        return invalid("spring", spec.spring.stiffness, "0, because only 1-DOF joints have a spring");
    }
    if spec.armature > 0.0 && spec.kind.nv() != 1 {
        return invalid("armature", spec.armature, "0, because only 1-DOF joints have a rotor");
    }
    let limits = &spec.limits;
    if limits.lower.is_nan() || limits.upper.is_nan() || limits.lower > limits.upper {
        return invalid("the lower limit", limits.lower, "a number up to the upper limit");
    }
    for (what, value) in [("the velocity limit", limits.velocity), ("the effort limit", limits.effort)] {
        if value.is_nan() || value < 0.0 {
            return invalid(what, value, "a number that is not negative");
        }
    }
    match &spec.mimic {
        Some(mimic) => check_finite(&spec.name, "the mimic", &[mimic.multiplier, mimic.offset]),
        None => Ok(()),
    }
}

/// Follows each mimic to the joint that has the coordinate.
fn resolve_mimics(joints: &mut IndexVec<JointIndex, Joint>, mimics: &[(JointIndex, Mimic)]) -> Result<(), ModelError> {
    for &(follower, ref mimic) in mimics {
        let name = |index: JointIndex| joints[index].name.clone();
        let (mut multiplier, mut offset) = (1.0, 0.0);
        let mut next = Some((follower, mimic));
        let mut leader = follower;
        for _ in 0..=mimics.len() {
            let Some((joint, mimic)) = next else { break };
            leader = joints
                .iter_enumerated()
                .find_map(|(index, other)| (other.name == mimic.joint).then_some(index))
                .ok_or_else(|| ModelError::MimicUnknown { joint: name(joint), leader: mimic.joint.clone() })?;
            for culprit in [joint, leader] {
                let dofs = joints[culprit].kind.nv();
                if dofs != 1 {
                    let (joint, leader) = (name(joint), name(leader));
                    return Err(ModelError::MimicNotScalar { joint, leader, culprit: name(culprit), dofs });
                }
            }
            offset += multiplier * mimic.offset;
            multiplier *= mimic.multiplier;
            next = mimics.iter().find(|(other, _)| *other == leader).map(|(other, mimic)| (*other, mimic));
        }
        if next.is_some() {
            return Err(ModelError::MimicCircle { joint: name(follower) });
        }
        let joint = &mut joints[follower];
        joint.mimic = Some(MimicOf { leader, multiplier, offset });
        (joint.nq, joint.nv) = (0, 0);
    }
    Ok(())
}
