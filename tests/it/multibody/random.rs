//! Random models and states, the same in every run.

use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, Mimic, Model, ModelBuilder, State};

/// A linear congruential generator [Knuth, MMIX].
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2_654_435_769).wrapping_add(1))
    }
    /// Uniform in -1..1.
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((0.5 + 0.5 * self.next()) * count as f64) as usize % count
    }
    pub(super) fn vector(&mut self) -> Vector3 {
        Vector3::new(self.next(), self.next(), self.next())
    }
    pub(super) fn pose(&mut self) -> RigidTransform {
        RigidTransform::from_parts(self.vector().into(), Rotation::new(self.vector() * 3.0))
    }
    /// A physical inertia: three point masses and a ball.
    pub(super) fn inertia(&mut self) -> SpatialInertia {
        let ball = SpatialInertia::from_central(0.5, &self.vector(), &(Matrix3::identity() * 0.1));
        (0..3).fold(ball, |sum, _| sum + SpatialInertia::from_central(0.4, &self.vector(), &Matrix3::zeros()))
    }
    pub(super) fn values(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| 2.0 * self.next()).collect()
    }
    pub(super) fn state(&mut self, model: &Model) -> State {
        let mut state = State { q: self.values(model.nq()), v: self.values(model.nv()) };
        for joint in model.joints().iter().filter(|joint| joint.kind == JointKind::Floating) {
            let q = &mut state.q[joint.q_start..joint.q_start + 4];
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            q.iter_mut().for_each(|x| *x /= norm);
        }
        state
    }
}

/// Twelve bodies on random parents with every kind of joint, one floating body without a joint, and mimic joints, one
/// of which couples two trees.
pub(super) fn model(seed: u64) -> Model {
    let mut random = Random::new(seed);
    let mut builder = ModelBuilder::new();
    let kinds = [
        JointKind::Revolute,
        JointKind::Prismatic,
        JointKind::Floating,
        JointKind::Fixed,
        JointKind::Planar,
        JointKind::Continuous,
    ];
    let mut bodies = vec![BodyIndex::WORLD];
    for number in 0..12 {
        let child = builder.add_body(&format!("body{number}"), random.inertia());
        let parent = bodies[random.below(bodies.len())];
        bodies.push(child);
        let kind = kinds[(number + seed as usize) % kinds.len()];
        let scalar = kind.nv() == 1;
        builder
            .add_joint(JointSpec {
                X_PF: random.pose(),
                axis_F: random.vector(),
                limits: JointLimits::NONE,
                armature: if scalar { 0.3 } else { 0.0 },
                ..JointSpec::new(&format!("joint{number}"), parent, child, kind)
            })
            .unwrap();
    }
    let mut previous = String::from("joint0");
    for number in 0..kinds.len() {
        if kinds[(number + seed as usize) % kinds.len()].nv() == 1 {
            previous = format!("joint{number}");
        }
    }
    for (number, parent) in [bodies[3], BodyIndex::WORLD].into_iter().enumerate() {
        let child = builder.add_body(&format!("follower{number}"), random.inertia());
        let name = format!("mimic{number}");
        let mimic = Mimic { joint: previous, multiplier: -1.5, offset: 0.2 };
        let spec = JointSpec::new(&name, parent, child, JointKind::Revolute);
        let spec =
            JointSpec { X_PF: random.pose(), axis_F: random.vector(), mimic: Some(mimic), armature: 0.1, ..spec };
        builder.add_joint(spec).unwrap();
        previous = name;
    }
    builder.add_body("free", random.inertia());
    builder.build(Vector3::new(0.5, -1.0, -9.0)).unwrap()
}
