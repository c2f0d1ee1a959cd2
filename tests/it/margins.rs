//! Margins of meshes: the pressure is zero at the surface for any margin; and pressures from files.

use std::sync::Arc;

use isobar::geometry::fill::FieldScale;
use isobar::geometry::make::{boundary, cuboid as tetrahedra_of_box, distance_pressure};
use isobar::geometry::{HydroelasticGeometry, HydroelasticParameters, PressureField, Shape, VolumeMesh};
use isobar::math::Vector3;

use crate::fill::surfaces::{cuboid, prism};

const MODULUS: f64 = 1e6;

fn field(shape: &Shape, margin: f64, pressure_field: FieldScale) -> PressureField {
    let parameters = HydroelasticParameters {
        compliant: Some(MODULUS),
        margin,
        pressure_field,
        ..HydroelasticParameters::default()
    };
    match HydroelasticGeometry::new(shape, &parameters).unwrap() {
        HydroelasticGeometry::CompliantVolume(field) => *field,
        _ => panic!("a compliant volume"),
    }
}

/// The pressure at a point: the largest in the tetrahedra that contain it. In notches narrower than the
/// margin the space outside overlaps itself.
fn pressure_at(field: &PressureField, point: &Vector3) -> f64 {
    let outside = |element: u32| {
        field.planes(element).iter().map(|plane| plane.distance(point)).fold(f64::NEG_INFINITY, f64::max)
    };
    let around = (0..field.mesh().tets.len() as u32).filter(|element| outside(*element) < 1e-9);
    let pressure = around.map(|element| field.linear()[element as usize].at(point)).fold(f64::NEG_INFINITY, f64::max);
    assert!(pressure.is_finite(), "{point} lies outside");
    pressure
}

/// A plate of 6 mm with a block on it.
fn tee() -> Shape {
    let outline = [
        [-0.05, 0.0],
        [0.05, 0.0],
        [0.05, 0.006],
        [0.02, 0.006],
        [0.02, 0.046],
        [-0.02, 0.046],
        [-0.02, 0.006],
        [-0.05, 0.006],
    ];
    Shape::Mesh(Arc::new(prism(&outline, 0.03, &[[0, 1, 2], [0, 2, 3], [0, 3, 6], [0, 6, 7], [3, 4, 5], [3, 5, 6]])))
}

/// The pressure of a body with a margin is zero in the middle of every triangle of its surface, that of a
/// body without one, and falls outside. Regression: a rod of 20 mm by 200 mm with a margin of 2 mm stood 15
/// mm deep in the floor, a filling with the local thickness floated, and one with pressures from a file sank.
/// Bound: linear interpolation is exact, so only rounding remains, 1e-9 of the modulus.
#[test]
fn the_pressure_is_zero_at_the_surface_with_any_margin() {
    let rod = cuboid(Vector3::new(0.01, 0.01, 0.1));
    let (mut mesh, _) = tetrahedra_of_box(&Vector3::new(0.05, 0.03, 0.02));
    // Another slope on each side of the box.
    mesh.vertices.iter_mut().for_each(|vertex| vertex.x += 0.2 * vertex.z);
    let pressure = Arc::new(distance_pressure(&mesh, 50.0 * MODULUS).unwrap().1);
    let shapes = [
        (Shape::Mesh(Arc::new(rod.clone())), FieldScale::Depth),
        (Shape::Convex(Arc::new(rod)), FieldScale::Depth),
        (tee(), FieldScale::Thickness),
        (Shape::Volume { mesh: Arc::new(mesh), pressure: Some(pressure) }, FieldScale::Depth),
    ];
    for (number, (shape, scale)) in shapes.iter().enumerate() {
        let plain = field(shape, 0.0, *scale);
        let surface = boundary(plain.mesh()).unwrap();
        for margin in [2e-4, 2e-3] {
            let grown = field(shape, margin, *scale);
            assert!((grown.pressure_max() - plain.pressure_max()).abs() < 1e-9 * MODULUS);
            let mut worst = 0.0_f64;
            // A search through all tetrahedra for each: a sample of the triangles.
            for triangle in surface.triangles.iter().step_by(surface.triangles.len().div_ceil(100)) {
                let [a, b, c] = triangle.map(|vertex| surface.vertices[vertex as usize]);
                let (middle, normal) = ((a + b + c) / 3.0, (b - a).cross(&(c - a)).normalize());
                worst = worst.max(pressure_at(&grown, &middle).abs());
                // Outside of concave edges lies the body itself.
                if !matches!(shape, Shape::Mesh(_)) {
                    assert!(pressure_at(&grown, &(middle + normal * (0.5 * margin))) < 0.0);
                }
            }
            assert!(worst < 1e-9 * grown.pressure_max(), "shape {number}, margin {margin}: {worst:e} Pa");
            let (inner, outer) = (plain.bounds(), grown.bounds());
            assert!((0..3).all(|axis| outer.max[axis] > inner.max[axis] + 0.999 * margin), "shape {number}");
        }
    }
}

/// Pressures of a file that are negative, or not zero on the boundary, are refused with the vertex: with them
/// a body sinks in or is pushed off before it touches.
#[test]
fn wrong_pressures_of_a_file_are_refused_with_the_vertex() {
    let (mesh, _) = tetrahedra_of_box(&Vector3::new(0.05, 0.03, 0.02));
    let right = distance_pressure(&mesh, MODULUS).unwrap().1;
    let inside = right.iter().position(|pressure| *pressure > 0.0).unwrap();
    let build = |mesh: &VolumeMesh, pressure: Vec<f64>| {
        let shape = Shape::Volume { mesh: Arc::new(mesh.clone()), pressure: Some(Arc::new(pressure)) };
        let parameters = HydroelasticParameters { compliant: Some(MODULUS), ..HydroelasticParameters::default() };
        HydroelasticGeometry::new(&shape, &parameters).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(build(&mesh, right.clone()), Ok(()));
    for (vertex, value, expected) in
        [(0, 3e5, "boundary"), (0, -3e5, "above 0 inside"), (inside, -1e5, "above 0 inside")]
    {
        let mut wrong = right.clone();
        wrong[vertex] = value;
        let message = build(&mesh, wrong).unwrap_err();
        assert!(message.contains(&format!("at vertex {vertex} ")) && message.contains(expected), "{message}");
    }
}
