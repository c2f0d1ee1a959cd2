//! Contact points between rigid shapes, by kind of pair: time of a query at resting contact, 1 um deep, all
//! buffers warm.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![allow(missing_docs)]
#![allow(non_snake_case)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use isobar::geometry::{PointContacts, RigidShape, RigidWorkspace, Shape, SurfaceMesh, contact_points, make};
use isobar::math::{RigidTransform, Vector3};

/// A ball with a dent, so that it is not convex, and edges of `resolution` \[m\].
fn dented_ball(resolution: f64) -> SurfaceMesh {
    let mut mesh = make::boundary(&make::sphere(0.05, resolution)).unwrap();
    for vertex in mesh.vertices.iter_mut().filter(|vertex| vertex.x > 0.04) {
        vertex.x = 0.08 - vertex.x;
    }
    mesh
}

/// Depth at which all pairs are measured [m].
const DEPTH: f64 = 1e-6;

/// The pose of `b` above `a`, at about `height` [m], at which the deepest point is [`DEPTH`] deep: a
/// tessellated ball is a little smaller than its radius.
fn resting(a: &RigidShape, b: &RigidShape, height: f64) -> RigidTransform {
    let (mut workspace, mut out) = (RigidWorkspace::default(), PointContacts::default());
    let mut z = height;
    for _ in 0..50 {
        let X_WB = RigidTransform::translation(0.001, 0.002, z);
        contact_points(a, &RigidTransform::identity(), b, &X_WB, 0.01, &mut workspace, &mut out);
        let least = out.phi.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least.is_finite(), "the shapes are within a centimetre of each other");
        z -= least + DEPTH;
    }
    RigidTransform::translation(0.001, 0.002, z)
}

fn pairs(criterion: &mut Criterion) {
    let cube = Shape::Box { size: Vector3::repeat(0.1) };
    let cylinder = Shape::Cylinder { radius: 0.05, length: 0.1 };
    let hull = Shape::Convex(Arc::new(dented_ball(0.02)));
    let mesh = Shape::Mesh(Arc::new(dented_ball(0.005)));
    let ball = Shape::Sphere { radius: 0.05 };
    let cases = [
        ("half space - box", Shape::HalfSpace, cube.clone(), 0.05),
        ("half space - mesh", Shape::HalfSpace, mesh.clone(), 0.05),
        ("sphere - box", ball.clone(), cube.clone(), 0.1),
        ("sphere - mesh", ball, mesh.clone(), 0.1),
        ("box - box", cube.clone(), cube.clone(), 0.1),
        ("box - cylinder", cube.clone(), cylinder, 0.1),
        ("hull - hull", hull.clone(), hull, 0.1),
        ("box - mesh", cube, mesh.clone(), 0.1),
        ("mesh - mesh", mesh.clone(), mesh, 0.1),
    ];
    for (name, a, b, height) in cases {
        let (a, b) = (RigidShape::new(&a).unwrap(), RigidShape::new(&b).unwrap());
        let X_WB = resting(&a, &b, height);
        let (mut workspace, mut out) = (RigidWorkspace::default(), PointContacts::default());
        criterion.bench_function(&format!("point_contact/{name}"), |bencher| {
            bencher.iter(|| {
                let X_WA = black_box(RigidTransform::identity());
                contact_points(&a, &X_WA, &b, &X_WB, 1e-4, &mut workspace, &mut out);
                out.len()
            });
        });
        assert!(!out.is_empty() && out.phi.iter().any(|phi| *phi < 0.0), "{name}: no contact is measured");
        println!("{name}: {} points", out.len());
    }
}

criterion_group!(benches, pairs);
criterion_main!(benches);
