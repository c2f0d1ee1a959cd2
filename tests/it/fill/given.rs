//! Defects of surfaces: repaired, or refused with their position.

use isobar::geometry::SurfaceMesh;
use isobar::geometry::make::centroid;
use isobar::geometry::surface_check::{SurfaceDefect, check_surface};
use isobar::math::Vector3;

use super::surfaces::{ball, box_with_cavity, cuboid, ell};

fn cube() -> SurfaceMesh {
    cuboid(Vector3::new(0.5, 0.5, 0.5))
}

/// The volume that a repaired surface encloses, and its repairs.
fn repaired(surface: &SurfaceMesh) -> (f64, isobar::geometry::surface_check::CheckedSurface) {
    let checked = check_surface(surface).unwrap();
    (centroid(&checked.mesh).0, checked)
}

#[test]
fn a_good_surface_stays_as_it_is() {
    for surface in [cube(), ell(), ball(0.05, 0.01)] {
        let checked = check_surface(&surface).unwrap();
        assert_eq!(checked.mesh, surface);
        assert!(checked.is_simple && checked.report.repairs().is_none());
    }
}

#[test]
fn vertices_at_the_same_place_are_welded() {
    let shared = cube();
    let soup = SurfaceMesh {
        vertices: shared.triangles.iter().flatten().map(|vertex| shared.vertices[*vertex as usize]).collect(),
        triangles: (0..12).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect(),
    };
    let (volume, checked) = repaired(&soup);
    assert_eq!((checked.mesh.vertices.len(), checked.report.welded), (8, 28));
    assert!((volume - 1.0).abs() < 1e-12);
    // The same with rounding in the positions.
    let mut shaken = soup;
    shaken.vertices.iter_mut().enumerate().for_each(|(k, vertex)| vertex.x += 1e-8 * (k % 3) as f64);
    assert_eq!(repaired(&shaken).1.mesh.vertices.len(), 8);
}

/// A cube drawn from both sides, as files without a definite outside are, alone and beside a cube that is
/// not; and a fin drawn so on a cube, which encloses nothing. Regression: all such triangles were removed.
#[test]
fn a_closed_surface_drawn_from_both_sides_is_kept() {
    let mut double = cube();
    double.triangles.extend(cube().triangles.iter().map(|[a, b, c]| [*a, *c, *b]));
    let (volume, checked) = repaired(&double);
    assert!((volume - 1.0).abs() < 1e-12);
    assert_eq!((checked.mesh.triangles.len(), checked.report.dropped), (12, 12));
    let mut both = double.clone();
    both.vertices.extend(cube().vertices.iter().map(|p| p + Vector3::new(3.0, 0.0, 0.0)));
    both.triangles.extend(cube().triangles.iter().map(|t| t.map(|vertex| vertex + 8)));
    assert!((repaired(&both).0 - 2.0).abs() < 1e-12);
    let mut fin = cube();
    let tip = fin.vertices.len() as u32;
    fin.vertices.push(Vector3::new(2.0, 0.0, 0.0));
    let [a, b, _] = fin.triangles[0];
    fin.triangles.extend([[a, b, tip], [b, a, tip]]);
    assert_eq!(repaired(&fin).1.mesh, cube());
}

#[test]
fn an_inverted_surface_is_turned() {
    let mut surface = cube();
    surface.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    let (volume, checked) = repaired(&surface);
    assert!((volume - 1.0).abs() < 1e-12);
    assert_eq!(checked.report.inverted, 1);
    let mut mixed = cube();
    mixed.triangles[3].swap(0, 1);
    mixed.triangles[8].swap(0, 1);
    let (volume, checked) = repaired(&mixed);
    assert!((volume - 1.0).abs() < 1e-12);
    assert_eq!((checked.report.turned, checked.report.inverted), (2, 0));
}

#[test]
fn a_hole_inside_is_a_cavity() {
    let (volume, checked) = repaired(&box_with_cavity());
    assert!((volume - (0.001 - 0.000_064)).abs() < 1e-15);
    assert_eq!((checked.report.components, checked.report.cavities, checked.report.inverted), (2, 1, 0));
    // All inside out: both are turned.
    let mut surface = box_with_cavity();
    surface.triangles[..12].iter_mut().for_each(|triangle| triangle.swap(1, 2));
    assert!((repaired(&surface).0 - (0.001 - 0.000_064)).abs() < 1e-15);
}

/// A vertex on an edge, with a triangle without area between: the edge is flipped and the surface stays
/// closed.
#[test]
fn triangles_without_area_go() {
    let mut surface = cube();
    let [a, b, c] = surface.triangles[0];
    let middle = surface.vertices.len() as u32;
    surface.vertices.push((surface.vertices[a as usize] + surface.vertices[b as usize]) * 0.5);
    surface.triangles[0] = [a, middle, c];
    surface.triangles.extend([[middle, b, c], [a, b, middle]]);
    let (volume, checked) = repaired(&surface);
    assert!((volume - 1.0).abs() < 1e-12);
    assert!(checked.is_simple, "{:?}", checked.report);
    assert_eq!(checked.report.flipped_edges, 1);
}

#[test]
fn an_open_surface_is_refused_with_the_place() {
    let mut surface = cube();
    surface.triangles.truncate(10);
    let error = check_surface(&surface).unwrap_err();
    assert!(matches!(error, SurfaceDefect::Open { count: 4, .. }), "{error}");
    assert!(error.to_string().contains("0.500000"), "{error}");
    // A hole that is small against the mesh is closed.
    let mut pricked = ball(0.05, 0.003);
    pricked.triangles.pop();
    let (_, checked) = repaired(&pricked);
    assert_eq!(checked.report.closed_holes, 1);
    assert!(checked.is_simple);
}

#[test]
fn a_flat_or_broken_surface_is_refused() {
    let flat = SurfaceMesh {
        vertices: vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::new(1.0, 1.0, 0.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
    };
    assert!(matches!(check_surface(&flat), Err(SurfaceDefect::NoVolume { .. })));
    let mut broken = cube();
    broken.vertices[3].x = f64::NAN;
    assert!(matches!(check_surface(&broken), Err(SurfaceDefect::Array(_))));
    assert!(matches!(check_surface(&SurfaceMesh::default()), Err(SurfaceDefect::Empty { .. })));
}

/// A surface without outside: the projective plane with six vertices, every edge of which joins two
/// triangles.
#[test]
fn a_one_sided_surface_is_refused() {
    let triangles = vec![
        [0, 1, 2],
        [0, 2, 3],
        [0, 3, 4],
        [0, 4, 5],
        [0, 5, 1],
        [1, 2, 4],
        [2, 3, 5],
        [3, 4, 1],
        [4, 5, 2],
        [5, 1, 3],
    ];
    let vertices = (0..6).map(|k| Vector3::new(f64::from(k), f64::from(k * k), f64::from(k * k * k))).collect();
    let error = check_surface(&SurfaceMesh { vertices, triangles }).unwrap_err();
    assert!(matches!(error, SurfaceDefect::OneSided { .. }), "{error}");
}

/// Two intersecting triangles are named, with the position.
#[test]
fn intersections_are_named() {
    let mut surface = cube();
    let first = surface.vertices.len() as u32;
    surface.vertices.extend(cube().vertices.iter().map(|vertex| vertex * 0.5 + Vector3::new(0.5, 0.1, 0.05)));
    surface.triangles.extend(cube().triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    let checked = check_surface(&surface).unwrap();
    assert!(!checked.is_simple);
    let intersection = checked.report.intersection.unwrap();
    assert!(intersection.triangles[0] < 12 && intersection.triangles[1] >= 12);
    assert!((intersection.at.0.x - 0.5).abs() < 1e-12, "the parts meet in the plane x = 0.5");
}
