//! Time of one full contact query, without any help from the step before.
//!
//! `cargo bench --bench contact_surface` prints one line for each case: the median in microseconds. The name ends in the
//! number of faces, so that time over faces is the cost of a face. `golden/` are configurations of
//! tests/golden/contact_surfaces, whose file has the time of another simulator for the same query (`query_us_median`);
//! compare only figures that were measured on the same machine. `resolution/` is an ellipsoidal bubble on a stiff
//! cylinder at finer and finer meshes: time should grow as the faces do, not as the product of the elements.
#![allow(non_snake_case, missing_docs, clippy::unwrap_used, clippy::panic)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape, contact_surface,
};
use isobar::math::{RigidTransform, Rotation, Vector3};

const BUBBLE: Shape = Shape::Ellipsoid { semi_axes: Vector3::new(0.04165, 0.04165, 0.0625) };
const HANDLE: Shape = Shape::Cylinder { radius: 0.015, length: 0.11 };

fn geometry(shape: &Shape, modulus: Option<f64>, hint: f64) -> HydroelasticGeometry {
    let parameters =
        HydroelasticParameters { compliant: modulus, resolution_hint: Some(hint), slab_thickness: None, margin: 0.0 };
    HydroelasticGeometry::new(shape, &parameters).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> RigidTransform {
    RigidTransform::from_parts(Vector3::new(x, y, z).into(), Rotation::identity())
}

fn measure(
    c: &mut Criterion,
    name: &str,
    (A, X_WA): (&HydroelasticGeometry, RigidTransform),
    (B, X_WB): (&HydroelasticGeometry, RigidTransform),
) {
    let mut workspace = HydroelasticWorkspace::default();
    let mut surface = ContactSurface::new();
    contact_surface(A, &X_WA, B, &X_WB, &mut workspace, &mut surface).unwrap();
    c.bench_function(&format!("{name}/{}_faces", surface.len()), |bencher| {
        bencher.iter(|| {
            contact_surface(A, black_box(&X_WA), B, black_box(&X_WB), &mut workspace, &mut surface).unwrap();
            black_box(surface.len())
        });
    });
}

fn golden(c: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/contact_surfaces/contact_surfaces.json");
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let names = [
        "bubble_ell_spatula_cyl",
        "pancake_box",
        "bubble_vtk_cyl",
        "sphere_sphere_eq",
        "box_box_face",
        "capsule_cyl",
        "sphere_rbox_corner",
        "capsule_rsphere",
        "bubble_ell_hs_h.01",
        "chs_rsphere",
    ];
    for config in file["configs"].as_array().unwrap() {
        let name = config["name"].as_str().unwrap();
        if !names.contains(&name) {
            continue;
        }
        let [A, B] = ["A", "B"].map(|side| support::given(&config[side], &config["meshes"][side]));
        let [X_WA, X_WB] = ["A", "B"].map(|side| support::pose(&config[side]));
        let peer = config["query_us_median"].as_f64().unwrap();
        measure(c, &format!("golden/{name}/peer_{peer:.1}_us"), (&A, X_WA), (&B, X_WB));
    }
}

fn resolution(c: &mut Criterion) {
    for halving in [1.0, 2.0, 4.0, 8.0] {
        let bubble = geometry(&BUBBLE, Some(1e5), 0.04 / halving);
        let handle = geometry(&HANDLE, Some(1e8), 0.005 / halving);
        measure(c, "resolution/bubble_on_cylinder", (&bubble, at(0.0, 0.0, 0.0)), (&handle, at(0.05, 0.0, 0.0)));
    }
}

#[path = "../it/contact_surface_file.rs"]
mod support;

criterion_group!(benches, golden, resolution);
criterion_main!(benches);
