//! The face kernel by number of faces: impulse alone, and with the 6x6 Hessian.
//!
//! How to read it: `impulse_and_hessian/128` is the time of one sweep over 128 faces in one patch; divide by
//! the faces. It should grow linearly; a sweep with Hessian costs about twice one without.
#![allow(non_snake_case, missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use isobar::math::{Matrix6, SpatialVelocity, Vector3, Vector6};
use isobar::solvers::{DissipationLaw, FaceInput, PatchBlock, PatchLaw};

fn patch(faces: usize, spin_arm_squared: f64) -> PatchBlock {
    let mut block = PatchBlock::new();
    block.reset(PatchLaw {
        step: 1e-3,
        dissipation: DissipationLaw::HuntCrossley { dissipation: 5.0 },
        friction: 0.8,
        stiction_tolerance: 1e-6,
        friction_compliance: 0.0,
    });
    for dof in 0..6 {
        let mut column = Vector6::zeros();
        column[dof] = 1.0;
        block.push_column(dof as u32, column, 0.0);
    }
    for i in 0..faces {
        let a = i as f64;
        let normal = Vector3::new(0.1 * (a * 1.3).sin(), 0.1 * (a * 0.7).cos(), 1.0).normalize();
        let p_CF = Vector3::new((a * 2.1).sin(), (a * 1.7).cos(), 0.1 * a.sin()) * 0.02;
        block.push_face(&FaceInput { p_CF, normal, stiffness: 200.0, elastic_force: 0.1, spin_arm_squared });
    }
    block.lag_friction();
    block
}

fn sweep(criterion: &mut Criterion) {
    let V = SpatialVelocity::new(Vector3::new(0.01, 0.02, 0.03), Vector3::new(1e-3, 2e-3, -1e-4));
    let mut group = criterion.benchmark_group("face_kernel");
    for faces in [16, 128, 512, 1504] {
        let (block, spinning) = (patch(faces, 0.0), patch(faces, 1e-6));
        group.bench_with_input(BenchmarkId::new("impulse", faces), &block, |b, block| b.iter(|| block.impulse(&V)));
        group.bench_with_input(BenchmarkId::new("impulse_and_hessian", faces), &block, |b, block| {
            let mut hessian = Matrix6::zeros();
            b.iter(|| block.impulse_and_hessian(&V, &mut hessian));
        });
        group.bench_with_input(BenchmarkId::new("impulse_and_hessian_with_spin", faces), &spinning, |b, block| {
            let mut hessian = Matrix6::zeros();
            b.iter(|| block.impulse_and_hessian(&V, &mut hessian));
        });
    }
    group.finish();
}

criterion_group!(benches, sweep);
criterion_main!(benches);
