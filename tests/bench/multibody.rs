//! Time of one evaluation of a model's kinematics, mass matrix and bias forces. Read the middle figure of
//! each line: `planar_gripper` has two prismatic joints and one floating body (8 dofs), `arm` seven revolute
//! joints in a row, `humanoid` a floating base with five such arms (41 dofs). The rest of a simulation step
//! has to fit around it.
#![allow(missing_docs, non_snake_case, clippy::unwrap_used)]

use criterion::{Criterion, criterion_group, criterion_main};
use isobar::math::{BodyIndex, Matrix3, RigidTransform, SpatialInertia, Vector3};
use isobar::multibody::{Data, JointKind, JointSpec, Model, ModelBuilder, bias, kinematics, mass_matrix};

fn inertia() -> SpatialInertia {
    SpatialInertia::from_central(1.0, &Vector3::new(0.1, 0.05, 0.2), &(Matrix3::identity() * 0.02))
}

fn add_arm(builder: &mut ModelBuilder, name: &str, mut parent: BodyIndex) {
    for number in 0..7 {
        let child = builder.add_body(&format!("{name}_link{number}"), inertia());
        let spec = JointSpec::new(&format!("{name}_joint{number}"), parent, child, JointKind::Revolute);
        let axis_F = if number % 2 == 0 { Vector3::z() } else { Vector3::y() };
        let X_PF = RigidTransform::translation(0.0, 0.1, 0.2);
        builder.add_joint(JointSpec { axis_F, X_PF, ..spec }).unwrap();
        parent = child;
    }
}

fn build(fill: impl Fn(&mut ModelBuilder)) -> Model {
    let mut builder = ModelBuilder::new();
    fill(&mut builder);
    builder.build(Vector3::new(0.0, 0.0, -9.81)).unwrap()
}

fn evaluate(c: &mut Criterion) {
    let gripper = build(|builder| {
        for name in ["left", "right"] {
            let finger = builder.add_body(name, inertia());
            builder.add_joint(JointSpec::new(name, BodyIndex::WORLD, finger, JointKind::Prismatic)).unwrap();
        }
        builder.add_body("object", inertia());
    });
    let arm = build(|builder| add_arm(builder, "arm", BodyIndex::WORLD));
    let humanoid = build(|builder| {
        let base = builder.add_body("base", inertia());
        for name in ["a", "b", "c", "d", "e"] {
            add_arm(builder, name, base);
        }
    });
    for (name, model) in [("planar_gripper", gripper), ("arm", arm), ("humanoid", humanoid)] {
        let mut state = model.default_state();
        state.v.fill(0.3);
        let mut data = Data::new(&model);
        c.bench_function(&format!("{name}: kinematics"), |b| b.iter(|| kinematics(&model, &state, &mut data)));
        c.bench_function(&format!("{name}: mass_matrix"), |b| b.iter(|| mass_matrix(&model, &mut data)));
        c.bench_function(&format!("{name}: bias"), |b| b.iter(|| bias(&model, &mut data)));
    }
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
