//! Laws of wraps, of parts that are left out, and of the deepest point.

use std::f64::consts::PI;
use std::sync::Arc;

use isobar::contact::ContactProperties;
use isobar::geometry::fill::{FillSettings, Filling, fill};
use isobar::geometry::make::centroid;
use isobar::geometry::surface_check::{SurfaceDefect, check_surface};
use isobar::geometry::{HydroelasticGeometry, Shape, SurfaceMesh, check_cells};
use isobar::math::{BodyIndex, RigidTransform, Vector3};
use isobar::scene::SceneBuilder;

use super::surfaces::{cuboid, ell, ring, rotated};

/// The turn of bodies against the lattice.
const TURN: Vector3 = Vector3::new(0.3, 0.5, 0.2);

fn wrapped(surface: &SurfaceMesh, distance: f64) -> Filling {
    let filling = fill(surface, &FillSettings { wrap: Some(distance), ..FillSettings::default() }).unwrap();
    check_cells(&filling.mesh).unwrap();
    filling
}

/// The triangles of a box whose faces are divided into `n` by `n` squares; no two share a vertex.
pub(super) fn gridded(half: Vector3, n: u32) -> SurfaceMesh {
    let mut soup = SurfaceMesh::default();
    for axis in 0..3 {
        let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [-1.0, 1.0] {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let at = |i: u32, j: u32| {
                    let mut point = Vector3::zeros();
                    point[axis] = side * half[axis];
                    point[u] = half[u] * (2.0 * f64::from(i) / f64::from(n) - 1.0);
                    point[w] = half[w] * (2.0 * f64::from(j) / f64::from(n) - 1.0);
                    point
                };
                let first = soup.vertices.len() as u32;
                soup.vertices.extend([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                let [a, b, c, d] = [first, first + 1, first + 2, first + 3];
                soup.triangles.extend(if side > 0.0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
    }
    soup
}

/// On a missing flat face the winding number is exactly 1/2: the face takes half the solid angle away. A box
/// without its lid is refused, with the wrap as the way out, and is wrapped to the box with its lid.
#[test]
fn a_wrap_closes_a_flat_hole_flatly() {
    let half = Vector3::new(0.05, 0.04, 0.03);
    let mut open = gridded(half, 4);
    open.triangles.drain(0..32);
    let refused = check_surface(&open).unwrap_err();
    assert!(matches!(refused, SurfaceDefect::Open { .. }) && refused.to_string().contains("--wrap"), "{refused}");
    let filling = wrapped(&open, 1e-3);
    let volume = 8.0 * half.x * half.y * half.z;
    // The edges of a box are cut off by about a twentieth of a spacing squared.
    let cut = 0.1 * filling.spacing.powi(2) * 4.0 * 2.0 * half.sum();
    assert!((filling.quality.volume - volume).abs() < cut, "{} of {volume}", filling.quality.volume);
    assert!(filling.surface.open_edges > 0);
    let lid = filling.mesh.vertices.iter().map(|vertex| vertex.x).fold(f64::INFINITY, f64::min);
    assert!((lid + half.x).abs() < 0.02 * half.x, "{lid}");
}

/// The direction in which a file passes a triangle does not matter to a wrap, nor whether triangles share
/// vertices.
#[test]
fn a_wrap_finds_the_outer_side() {
    let mut surface = rotated(&ell(), TURN);
    let volume = wrapped(&surface, 1e-3).quality.volume;
    surface.triangles.iter_mut().step_by(3).for_each(|triangle| triangle.swap(0, 1));
    let turned = wrapped(&surface, 1e-3);
    assert!((turned.quality.volume - volume).abs() < 1e-3 * volume);
    let mut soup = SurfaceMesh::default();
    for (k, triangle) in surface.triangles.iter().enumerate() {
        soup.vertices.extend(triangle.map(|vertex| surface.vertices[vertex as usize]));
        soup.triangles.push([3 * k as u32, 3 * k as u32 + 1, 3 * k as u32 + 2]);
    }
    let soup = wrapped(&soup, 1e-3);
    assert!((soup.quality.volume - volume).abs() < 1e-3 * volume);
}

/// A square without thickness becomes the set of points within half the distance r: 2 r A + pi r^2 P / 2 +
/// 4/3 pi r^3, with area A and perimeter P.
#[test]
fn a_sheet_becomes_a_plate() {
    let corners = [[-0.05, -0.05], [0.05, -0.05], [0.05, 0.05], [-0.05, 0.05]];
    let sheet = SurfaceMesh {
        vertices: corners.map(|[x, y]| Vector3::new(x, y, 0.0)).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    let filling = wrapped(&rotated(&sheet, TURN), 0.02);
    let r = 0.01;
    let volume = 2.0 * r * 0.01 + 0.5 * PI * r * r * 0.4 + 4.0 / 3.0 * PI * r.powi(3);
    let error = filling.quality.volume / volume - 1.0;
    // The rim has the curvature 1 / r: the chords of a spacing h leave out h^2 / (12 r) under it.
    let rim = 0.5 * PI * r * 0.4 * filling.spacing.powi(2) / (8.0 * r) / volume;
    assert!(error.abs() < 2.0 * rim, "{error}, rim {rim}");
    assert_eq!(filling.surface.sheets, 2);
}

/// A sheet inside a closed shell bounds nothing: it is left out and counted, and the shell stays.
#[test]
fn loose_parts_inside_are_left_out() {
    let mut surface = cuboid(Vector3::new(0.05, 0.05, 0.05));
    let first = surface.vertices.len() as u32;
    surface.vertices.extend([[0.0, 0.0, 0.01], [0.02, 0.0, 0.01], [0.0, 0.02, 0.012]].map(Vector3::from));
    surface.triangles.push([first, first + 1, first + 2]);
    let checked = check_surface(&surface).unwrap();
    assert_eq!((checked.report.loose, checked.mesh.triangles.len()), (1, 12));
    assert!(checked.report.repairs().unwrap().contains("1 open parts inside closed ones left out"));
    // A large sheet outside may be meant.
    surface.vertices.iter_mut().skip(8).for_each(|vertex| *vertex = *vertex * 4.0 + Vector3::new(0.1, 0.0, 0.0));
    assert!(matches!(check_surface(&surface), Err(SurfaceDefect::Open { .. })));
}

/// A lost square of a hundredth of the surface is closed, although its border is as long as an edge of the
/// box.
#[test]
fn a_small_lost_face_is_closed() {
    let half = Vector3::new(0.5, 0.5, 0.5);
    let mut surface = gridded(half, 4);
    // The square (1, 1) of the first face.
    surface.triangles.drain(10..12);
    let checked = check_surface(&surface).unwrap();
    assert_eq!(checked.report.closed_holes, 1);
    assert!((centroid(&checked.mesh).0 - 1.0).abs() < 1e-12);
}

/// A rigid mesh with a small hole, or with a sheet inside, makes contact as the whole one does, and the
/// repair is noted: without it, points would pass through the hole in silence.
#[test]
fn small_holes_of_rigid_meshes_are_closed_and_noted() {
    let half = Vector3::new(0.05, 0.04, 0.03);
    let mut with_hole = gridded(half, 4);
    with_hole.triangles.drain(10..12);
    let mut with_sheet = gridded(half, 4);
    let first = with_sheet.vertices.len() as u32;
    with_sheet.vertices.extend([[0.0, 0.0, 0.01], [0.01, 0.0, 0.01], [0.0, 0.01, 0.012]].map(Vector3::from));
    with_sheet.triangles.push([first, first + 1, first + 2]);
    for (surface, repair) in [(with_hole, "1 small holes closed"), (with_sheet, "1 open parts inside closed ones")] {
        let mut builder = SceneBuilder::new();
        let rigid = ContactProperties { compliant: Some(false), ..ContactProperties::default() };
        let mesh = Shape::Mesh(Arc::new(surface));
        let index = builder.add_geometry(BodyIndex::WORLD, "block", RigidTransform::identity(), mesh, &rigid).unwrap();
        let [(_, note)] = builder.mesh_notes() else { panic!("{:?}", builder.mesh_notes()) };
        assert!(note.to_string().contains(repair), "{note}");
        let scene = builder.build(Vector3::zeros()).unwrap();
        let HydroelasticGeometry::RigidSurface(surface) = &scene.geometries()[index].hydroelastic else {
            panic!("rigid")
        };
        let volume = 8.0 * half.x * half.y * half.z;
        assert!((centroid(surface.mesh()).0 / volume - 1.0).abs() < 1e-12, "{repair}");
    }
}

/// A block on a plate thinner than the lattice of its volume: by default the plate is filled. With a coarse
/// hint it is missed; the filling has a note, and the hint that it names suffices.
#[test]
fn a_thin_plate_under_a_block_is_kept_or_named() {
    let mut surface = cuboid(Vector3::new(0.03, 0.03, 0.03));
    let plate = cuboid(Vector3::new(0.045, 0.045, 0.002));
    let first = surface.vertices.len() as u32;
    surface.vertices.extend(plate.vertices.iter().map(|vertex| vertex - Vector3::new(0.0, 0.0, 0.03)));
    surface.triangles.extend(plate.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    let surface = rotated(&surface, TURN);
    let filling = fill(&surface, &FillSettings::default()).unwrap();
    assert!(filling.quality.missed_area < 0.01, "{:?}", filling.quality);
    let coarse = FillSettings { resolution_hint: Some(0.02), ..FillSettings::default() };
    let filling = fill(&surface, &coarse).unwrap();
    assert!(filling.quality.missed_area > 0.05 && filling.left_out().is_some(), "{:?}", filling.quality);
    let note = filling.notes().next().unwrap().to_string();
    assert!(note.contains("mesh_resolution_hint of 4.0e-3 m suffices"), "{note}");
    let resolution_hint = filling.sufficient_hint;
    let filling = fill(&surface, &FillSettings { resolution_hint, ..FillSettings::default() }).unwrap();
    assert!(filling.quality.missed_area < 0.01, "{:?}", filling.quality);
}

/// The base of a traffic cone, 3 mm thick and 360 mm wide under a body of 600 mm, needs millions of
/// tetrahedra. The filling without it names a wrap instead, and that wrap has a base: its plates are found
/// also where triangles are as large as the base, and in a part only.
#[test]
fn a_base_that_no_hint_fills_is_kept_by_the_wrap_that_is_named() {
    let mut surface = cuboid(Vector3::new(0.07, 0.07, 0.3));
    let plate = cuboid(Vector3::new(0.18, 0.18, 0.0015));
    let first = surface.vertices.len() as u32;
    surface.vertices.extend(plate.vertices.iter().map(|vertex| vertex - Vector3::new(0.0, 0.0, 0.3)));
    surface.triangles.extend(plate.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    let filling = fill(&surface, &FillSettings::default()).unwrap();
    assert!(filling.quality.missed_area > 0.2 && filling.sufficient_hint.is_none(), "{:?}", filling.quality);
    let distance = filling.sufficient_wrap().unwrap();
    let note = filling.notes().next().unwrap().to_string();
    assert!(note.contains(&format!("`wrap: {distance:.1e}`")), "{note}");
    let wrap = wrapped(&surface, distance);
    assert!(wrap.left_out().is_none() && wrap.quality.missed_area < 0.02, "{:?}", wrap.quality);
    // The base reaches half the distance beyond its faces, the body does not.
    let volume = 8.0 * 0.07 * 0.07 * 0.3 + (0.36 * 0.36 - 0.14 * 0.14) * (0.003 + distance);
    assert!((wrap.quality.volume / volume - 1.0).abs() < 0.1, "{} for {volume}", wrap.quality.volume);
}

/// A cube of 0.3 m on a plate of 3 m x 3 m x 0.3 mm: with the wrap's distance the plate has ten times the
/// volume of the cube, which counts, so that the wrap that is named has the plate.
#[test]
fn the_wrap_that_is_named_counts_the_plate() {
    let mut surface = cuboid(Vector3::new(0.15, 0.15, 0.15));
    let plate = cuboid(Vector3::new(1.5, 1.5, 0.00015));
    let first = surface.vertices.len() as u32;
    surface.vertices.extend(plate.vertices.iter().map(|vertex| vertex - Vector3::new(0.0, 0.0, 0.15)));
    surface.triangles.extend(plate.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    let filling = fill(&surface, &FillSettings::default()).unwrap();
    let distance = filling.sufficient_wrap().unwrap();
    let wrap = wrapped(&surface, distance);
    assert!(wrap.left_out().is_none() && wrap.quality.missed_area < 0.02, "{distance}: {:?}", wrap.quality);
    let volume = 0.3_f64.powi(3) + (9.0 - 0.3 * 0.3) * (0.0003 + distance);
    assert!((wrap.quality.volume / volume - 1.0).abs() < 0.1, "{} for {volume}", wrap.quality.volume);
}

/// The pressure reaches the modulus at the deepest point of the body, 3 cm inside this box, wherever the
/// lattice has its vertices.
#[test]
fn the_deepest_point_is_that_of_the_surface() {
    for hint in [0.013, 0.017, 0.021] {
        for turn in [TURN, Vector3::new(-0.7, 0.2, 0.4)] {
            let surface = rotated(&cuboid(Vector3::new(0.05, 0.04, 0.03)), turn);
            let filling =
                fill(&surface, &FillSettings { resolution_hint: Some(hint), ..FillSettings::default() }).unwrap();
            let reached = filling.depth.iter().copied().fold(0.0, f64::max);
            assert!((filling.deepest - 0.03).abs() < 1e-3 * 0.03, "{hint}: {}, lattice {reached}", filling.deepest);
            let largest = filling.pressure(1e6).into_iter().fold(0.0, f64::max);
            assert!((largest / 1e6 - reached / filling.deepest).abs() < 1e-12);
        }
    }
}

/// A ring goes through a face of a block with its corners exactly on the face, and no edge crosses any
/// triangle strictly. The two are united all the same: the volume is that of the block and half of the ring.
#[test]
fn parts_that_meet_at_corners_only_are_united() {
    let half = Vector3::new(0.04, 0.04, 0.04);
    let arch = ring(0.02, 0.005, 24, 10);
    let mut surface = gridded(half, 5);
    let first = surface.vertices.len() as u32;
    surface.vertices.extend(arch.vertices.iter().map(|x| Vector3::new(0.04 + x.x, x.z, x.y)));
    // Exchanging two axes turns the triangles around.
    surface.triangles.extend(arch.triangles.iter().map(|[a, b, c]| [a + first, c + first, b + first]));
    let checked = check_surface(&surface).unwrap();
    assert!(!checked.is_simple);
    let filling = fill(&rotated(&surface, TURN), &FillSettings::default()).unwrap();
    let volume = 8.0 * half.x.powi(3) + 0.5 * centroid(&arch).0;
    let error = filling.quality.volume / volume - 1.0;
    assert!(
        error.abs() < 0.03 && (error - filling.quality.volume_error).abs() < 2e-3,
        "{error}, {:?}",
        filling.quality
    );
}
