//! Random models and states, the same in every run.

use isobar::math::{BodyIndex, Matrix3, SpatialInertia, Vector3};
use isobar::multibody::{JointKind, JointLimits, JointSpec, Mimic, Model, ModelBuilder, State};

use crate::random::Random;

/// A physical inertia: three point masses and a ball.
fn inertia(random: &mut Random) -> SpatialInertia {
    let ball = SpatialInertia::from_central(0.5, &random.vector(), &(Matrix3::identity() * 0.1));
    (0..3).fold(ball, |sum, _| sum + SpatialInertia::from_central(0.4, &random.vector(), &Matrix3::zeros()))
}

/// Numbers between -2 and 2.
pub(super) fn values(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| 2.0 * random.next()).collect()
}

/// A state with unit quaternions.
pub(super) fn state(random: &mut Random, model: &Model) -> State {
    let mut state = State { q: values(random, model.nq()), v: values(random, model.nv()) };
    for joint in model.joints().iter().filter(|joint| joint.kind == JointKind::Floating) {
        let q = &mut state.q[joint.q_start..joint.q_start + 4];
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.iter_mut().for_each(|x| *x /= norm);
    }
    state
}

/// Twelve bodies on random parents with every kind of joint, one floating body without a joint, and mimic
/// joints, one of which couples two trees.
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
        let child = builder.add_body(&format!("body{number}"), inertia(&mut random));
        let parent = bodies[random.below(bodies.len())];
        bodies.push(child);
        let kind = kinds[(number + seed as usize) % kinds.len()];
        let scalar = kind.nv() == 1;
        builder
            .add_joint(JointSpec {
                X_PF: random.pose(1.0),
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
        let child = builder.add_body(&format!("follower{number}"), inertia(&mut random));
        let name = format!("mimic{number}");
        let mimic = Mimic { joint: previous, multiplier: -1.5, offset: 0.2 };
        let spec = JointSpec::new(&name, parent, child, JointKind::Revolute);
        let spec =
            JointSpec { X_PF: random.pose(1.0), axis_F: random.vector(), mimic: Some(mimic), armature: 0.1, ..spec };
        builder.add_joint(spec).unwrap();
        previous = name;
    }
    builder.add_body("free", inertia(&mut random));
    builder.build(Vector3::new(0.5, -1.0, -9.0)).unwrap()
}
