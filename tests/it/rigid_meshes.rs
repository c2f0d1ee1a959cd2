//! Contact of rigid meshes: open ones, rounded positions, balls on edges; and the test for convexity.

use std::sync::Arc;

use isobar::geometry::make::check_convex;
use isobar::geometry::{GeometryError, RigidShape, Shape, SurfaceMesh};
use isobar::math::{Matrix3, RigidTransform, Rotation, Vector3};

use crate::fill::holes::{inside_out, joined, plate, round};
use crate::fill::surfaces::{ball, cuboid, ell};
use crate::worlds::{at, points_of};

/// A box without its lid, all of whose triangles look outward, is no block: a ball in its mouth touches
/// nothing. Regression: it counted as its hull, and the ball lay on the missing lid.
#[test]
fn an_open_rigid_mesh_is_not_its_hull() {
    let mut tray = cuboid(Vector3::new(0.1, 0.1, 0.05));
    tray.triangles.retain(|triangle| triangle.iter().any(|vertex| tray.vertices[*vertex as usize].z < 0.0));
    assert_eq!(tray.triangles.len(), 10);
    let tray = Shape::Mesh(Arc::new(tray));
    assert!(!RigidShape::new(&tray).unwrap().is_convex());
    let points = points_of(&tray, &at(0.0, 0.0, 0.0), &Shape::Sphere { radius: 0.02 }, &at(0.0, 0.0, 0.06), 1e-3);
    assert!(points.is_empty(), "{points:?}");
    assert!(RigidShape::new(&Shape::Mesh(Arc::new(cuboid(Vector3::repeat(0.1))))).unwrap().is_convex());
}

/// A mesh whose triangles have their own corners, rounded by 30 nm as in single precision: its edge against
/// the edge of a box, crossed at right angles. Regression: the faces beyond an edge were found by equal bits
/// only, and such a mesh had no contact at its edges.
#[test]
fn rounded_corners_keep_the_contact_of_edges() {
    let clean = ell();
    let mut rounded = SurfaceMesh::default();
    for (number, triangle) in clean.triangles.iter().enumerate() {
        let first = rounded.vertices.len() as u32;
        rounded.triangles.push([first, first + 1, first + 2]);
        for (corner, vertex) in triangle.iter().enumerate() {
            let noise = [0, 1, 2].map(|axis| 3e-8 * ((7 * number + 3 * corner + 5 * axis) as f64).sin());
            rounded.vertices.push(clean.vertices[*vertex as usize] + Vector3::from(noise));
        }
    }
    let (outward, half) = (Vector3::new(1.0, 1.0, 0.0).normalize(), 0.01);
    let axes = Matrix3::from_columns(&[
        Vector3::new(1.0, -1.0, 0.0).normalize(),
        (outward + Vector3::z()).normalize(),
        (Vector3::z() - outward).normalize(),
    ]);
    let overlap = 1e-5;
    let center = -outward * (half * 2.0_f64.sqrt() - overlap);
    let X_WB = RigidTransform::from_parts(center.into(), Rotation::from_matrix_unchecked(axes));
    let bar = Shape::Box { size: Vector3::repeat(2.0 * half) };
    // An open mesh is not repaired, but its corners are merged too.
    let is_left = |triangle: &[u32; 3]| triangle.iter().any(|vertex| rounded.vertices[*vertex as usize].x < 0.09);
    let mut open = rounded.clone();
    open.triangles.retain(is_left);
    assert!(open.triangles.len() < rounded.triangles.len());
    for mesh in [clean, rounded, open] {
        let points = points_of(&Shape::Mesh(Arc::new(mesh)), &at(0.0, 0.0, 0.0), &bar, &X_WB, 1e-4);
        assert_eq!(points.len(), 1, "{points:?}");
        // Rounding tilts the normal by about 30 nm over 4 cm, and moves the edge by 30 nm.
        assert!((points.phi[0] + overlap).abs() < 1e-7, "{points:?}");
        assert!((points.normal[0] + outward).norm() < 1e-5, "{points:?}");
    }
}

/// A plate of 20 mm with a square hole of 40 mm.
fn holed_plate() -> SurfaceMesh {
    let square = |half: f64, z: f64| {
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| Vector3::new(half * x, half * y, z))
    };
    let vertices = [square(0.1, 0.0), square(0.1, -0.02), square(0.02, 0.0), square(0.02, -0.02)].concat();
    let mut triangles = Vec::new();
    for i in 0..4_u32 {
        let j = (i + 1) % 4;
        // Top, underside, outer and inner side, each from two rings.
        for [a, b, c, d] in
            [[i, j, j + 8, i + 8], [j + 4, i + 4, i + 12, j + 12], [i + 4, j + 4, j, i], [j + 12, i + 12, i + 8, j + 8]]
        {
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    SurfaceMesh { vertices, triangles }
}

/// A ball in a square hole touches all four of its edges; on a corner of the plate it touches the corner
/// alone, and on the edge of two faces of one plane a single point. Regression: of all edges and corners of
/// a mesh only the nearest gave a point, and the ball trembled and sank.
#[test]
fn a_ball_touches_every_edge_and_corner_that_it_reaches() {
    let plate = Shape::Mesh(Arc::new(holed_plate()));
    let ball = Shape::Sphere { radius: 0.03 };
    let overlap = 1e-6;
    let height = (0.03_f64 - overlap).mul_add(0.03 - overlap, -0.02 * 0.02).sqrt();
    let points = points_of(&plate, &at(0.0, 0.0, 0.0), &ball, &at(0.0, 0.0, height), 1e-4);
    assert_eq!(points.len(), 4, "{points:?}");
    assert!(points.phi.iter().all(|phi| (phi + overlap).abs() < 1e-12), "{points:?}");
    let sum: Vector3 = points.normal.iter().sum();
    assert!(sum.xy().norm() < 1e-12 && (sum.z - 4.0 * height / (0.03 - overlap)).abs() < 1e-9, "{sum}");
    let outward = Vector3::new(1.0, 1.0, 1.0).normalize();
    let beyond = Vector3::new(0.1, 0.1, 0.0) + outward * (0.03 - overlap);
    let points = points_of(&plate, &at(0.0, 0.0, 0.0), &ball, &at(beyond.x, beyond.y, beyond.z), 1e-4);
    assert!(points.len() == 1 && (points.normal[0] - outward).norm() < 1e-9, "{points:?}");
    // Above the diagonal between two triangles of the top.
    let points = points_of(&plate, &at(0.0, 0.0, 0.0), &ball, &at(0.06, 0.06, 0.03 - overlap), 1e-4);
    assert!(points.len() == 1 && (points.normal[0] - Vector3::z()).norm() < 1e-9, "{points:?}");
}

/// The search through a tree finds what a comparison of each vertex with each triangle finds: the first
/// triangle with vertices in front of it, and the first of those.
#[test]
fn convexity_is_that_of_every_vertex_and_triangle() {
    let mut dented = ball(0.05, 0.01);
    dented.vertices[17] *= 0.99;
    for mesh in [ball(0.05, 0.005), cuboid(Vector3::repeat(0.1)), ell(), dented] {
        let corner = |vertex: u32| mesh.vertices[vertex as usize];
        let first = mesh.triangles.iter().enumerate().find_map(|(triangle, corners)| {
            let [a, b, c] = corners.map(corner);
            let normal = (b - a).cross(&(c - a)).normalize();
            let vertex = mesh.vertices.iter().position(|p| normal.dot(&(p - a)) > 1e-6)?;
            Some((triangle, vertex))
        });
        let found = match check_convex(&mesh) {
            Ok(()) => None,
            Err(GeometryError::NotConvex { triangle, vertex, .. }) => Some((triangle, vertex)),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, first);
    }
}

/// A plate with a hole that is drawn as a closed part turned inside out, whose ends lie on the faces: a peg
/// fits through it without contact. Regression: the hole kept its lids, and the peg lay on them.
#[test]
fn a_peg_fits_through_a_drilled_hole() {
    let hole = round(0.02, [-0.01, 0.01], 32, [0.003, 0.007], 0.1, true);
    let beyond = round(0.02, [-0.03, 0.02], 32, [0.003, 0.007], 0.1, true);
    let file = joined(plate(), &inside_out(hole));
    for mesh in [file.clone(), inside_out(file), joined(plate(), &inside_out(beyond))] {
        let drilled = Shape::Mesh(Arc::new(mesh));
        let peg = Shape::Cylinder { radius: 0.018, length: 0.1 };
        for z in [0.0, 0.0595, 0.03] {
            let points = points_of(&drilled, &at(0.0, 0.0, 0.0), &peg, &at(0.003, 0.007, z), 1e-3);
            assert!(points.is_empty(), "{z}: {points:?}");
        }
        let beside = points_of(&drilled, &at(0.0, 0.0, 0.0), &peg, &at(-0.03, -0.03, 0.0595), 1e-3);
        assert!(!beside.is_empty());
    }
}
