//! Time of contact queries by resolution: warm, when bodies move a little from query to query, and cold.
//!
//! `cargo bench --bench contact_surface` prints a table; with `-- --json`, one JSON object a line, which
//! tests/bench/drake_contact_surface.py reads and compares with another simulator; with `-- WORD`, the cases
//! with that word in their names only.
//!
//! How to read it: body B moves around an ellipse with semi-axes of 1 and 0.71 mm in 300 queries while it
//! turns back and forth, by at most 21 um and about 0.1 mrad per query, or 2 cm/s at 1 kHz. A time is the
//! mean of a whole round, all searches included; the median of the rounds is printed. `warm` reuses what
//! earlier queries found, `cold` searches every time. Time over faces is the cost of a face. Compare only
//! figures of one run on one machine.
#![allow(non_snake_case, missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape, SurfaceMesh,
    contact_surface,
};
use isobar::math::{RigidTransform, Rotation, Vector3};

const QUERIES: usize = 300;
const ROUNDS: usize = 15;
const BUBBLE: Shape = Shape::Ellipsoid { semi_axes: Vector3::new(0.04165, 0.04165, 0.0625) };
const PANCAKE: Shape = Shape::Ellipsoid { semi_axes: Vector3::new(0.06, 0.06, 0.01) };

/// One geometry: shape, modulus (none where rigid) and resolution hint.
type Side = (Shape, Option<f64>, f64);

struct Case {
    name: &'static str,
    A: Side,
    B: Side,
    p_AB: Vector3,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for hint in [0.04, 0.02, 0.01] {
        let handle = Shape::Cylinder { radius: 0.015, length: 0.11 };
        let (A, B) = ((BUBBLE, Some(1e5), hint), (handle, Some(1e8), hint / 8.0));
        cases.push(Case { name: "bubble on spatula handle", A, B, p_AB: Vector3::new(0.0517, 0.0, 0.0) });
    }
    for hint in [0.02, 0.01, 0.005] {
        let can = Shape::Cylinder { radius: 0.04, length: 0.1 };
        let egg = Shape::Ellipsoid { semi_axes: Vector3::new(0.05, 0.03, 0.04) };
        let (A, B) = ((egg, Some(1e5), hint), (can, Some(3e5), hint));
        cases.push(Case { name: "ellipsoid on cylinder", A, B, p_AB: Vector3::new(0.08, 0.0, 0.01) });
    }
    for hint in [0.02, 0.01, 0.005] {
        let ball = Shape::Sphere { radius: 0.05 };
        let (A, B) = ((ball, Some(1e5), hint), (Shape::HalfSpace, None, 1.0));
        cases.push(Case { name: "sphere on half space", A, B, p_AB: Vector3::new(0.0, 0.0, -0.04) });
    }
    for hint in [0.02, 0.01, 0.005] {
        let plate = Shape::Box { size: Vector3::new(0.4, 0.4, 0.02) };
        let (A, B) = ((PANCAKE, Some(1e4), hint), (plate, None, 1.0));
        cases.push(Case { name: "pancake on coarse rigid plate", A, B, p_AB: Vector3::new(0.0, 0.0, -0.017) });
    }
    for count in [60, 240, 960] {
        let hull = |count| {
            Shape::Convex(Arc::new(SurfaceMesh { vertices: points_on_ball(count, 0.05), triangles: Vec::new() }))
        };
        let (A, B) = ((hull(count), Some(1e5), 1.0), (hull(count), Some(2e5), 1.0));
        cases.push(Case { name: "convex mesh on convex mesh", A, B, p_AB: Vector3::new(0.06, 0.05, 0.02) });
    }
    cases
}

/// Points spread evenly over a sphere by the golden angle.
fn points_on_ball(count: usize, radius: f64) -> Vec<Vector3> {
    (0..count)
        .map(|i| {
            let z = 1.0 - (2.0 * i as f64 + 1.0) / count as f64;
            let (ring, angle) = ((1.0 - z * z).sqrt(), i as f64 * std::f64::consts::PI * (3.0 - 5.0_f64.sqrt()));
            Vector3::new(ring * angle.cos(), ring * angle.sin(), z) * radius
        })
        .collect()
}

fn geometry((shape, compliant, hint): &Side) -> HydroelasticGeometry {
    let parameters = HydroelasticParameters {
        compliant: *compliant,
        resolution_hint: Some(*hint),
        slab_thickness: None,
        margin: 0.0,
        ..HydroelasticParameters::default()
    };
    HydroelasticGeometry::new(shape, &parameters).unwrap()
}

/// The pose of B at query `i` of a round, with A at the origin.
fn pose(p_AB: &Vector3, i: usize) -> RigidTransform {
    let t = i as f64 / QUERIES as f64 * std::f64::consts::TAU;
    let p = p_AB + Vector3::new(t.sin(), t.cos() - 1.0, t.sin()) * 1e-3 / std::f64::consts::SQRT_2;
    RigidTransform::from_parts(p.into(), Rotation::from_euler_angles(0.002 * t.sin(), 0.0, 0.003 * t.sin()))
}

struct Measured {
    faces: f64,
    /// Median over the rounds of the mean of a round [us].
    microseconds: f64,
}

fn measure(case: &Case, coherence: bool) -> Measured {
    let (A, B) = (geometry(&case.A), geometry(&case.B));
    let mut workspace = HydroelasticWorkspace::default();
    workspace.coherence = coherence;
    let mut surface = ContactSurface::new();
    let mut faces = 0;
    let mut rounds: Vec<f64> = (0..=ROUNDS)
        .map(|_| {
            faces = 0;
            let start = Instant::now();
            for i in 0..QUERIES {
                let X_WB = pose(&case.p_AB, i);
                contact_surface(&A, &RigidTransform::identity(), &B, black_box(&X_WB), &mut workspace, &mut surface)
                    .unwrap();
                faces += black_box(&surface).len();
            }
            start.elapsed().as_secs_f64() * 1e6 / QUERIES as f64
        })
        .skip(1)
        .collect();
    rounds.sort_by(f64::total_cmp);
    Measured { faces: faces as f64 / QUERIES as f64, microseconds: rounds[ROUNDS / 2] }
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let word = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).unwrap_or_default();
    if !json {
        println!(
            "{:32}{:>8}{:>10}{:>10}{:>14}{:>14}",
            "", "faces", "warm us", "cold us", "warm ns/face", "cold ns/face"
        );
    }
    for case in cases().into_iter().filter(|case| case.name.contains(&word)) {
        let (warm, cold) = (measure(&case, true), measure(&case, false));
        let name = case.name;
        if json {
            let hint = if let Shape::Convex(mesh) = &case.A.0 { mesh.vertices.len() as f64 } else { case.A.2 };
            let (warm_us, cold_us, faces) = (warm.microseconds, cold.microseconds, warm.faces);
            println!(
                "{}",
                serde_json::json!({ "name": name, "hint": hint, "faces": faces, "warm_us": warm_us, "cold_us": cold_us })
            );
        } else {
            let per_face = |measured: &Measured| measured.microseconds * 1e3 / measured.faces;
            println!(
                "{name:32}{:8.1}{:10.2}{:10.2}{:14.1}{:14.1}",
                warm.faces,
                warm.microseconds,
                cold.microseconds,
                per_face(&warm),
                per_face(&cold)
            );
        }
    }
}
