//! Parts inside parts, and tetrahedra that overlap.

use isobar::geometry::fill::Filling;
use isobar::geometry::surface_check::check_surface;
use isobar::geometry::{CellDefect, SurfaceMesh, VolumeMesh, check_cells};
use isobar::math::Vector3;

use super::surfaces::{box_with_cavity, cuboid, prism, rotated};
use super::{check_mesh, filled, stuffed};
use crate::random::Random;

/// A cube about the origin with edges of `edge` [m].
fn cube(edge: f64) -> SurfaceMesh {
    cuboid(Vector3::repeat(0.5 * edge))
}

fn joined(mut a: SurfaceMesh, b: &SurfaceMesh) -> SurfaceMesh {
    let first = a.vertices.len() as u32;
    a.vertices.extend(&b.vertices);
    a.triangles.extend(b.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    a
}

fn inside_out(mut surface: SurfaceMesh) -> SurfaceMesh {
    surface.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    surface
}

/// The number of tetrahedra that contain a point by more than `margin`, in barycentric coordinates.
fn holders(mesh: &VolumeMesh, point: &Vector3, margin: f64) -> usize {
    let volume = |[a, b, c, d]: [Vector3; 4]| (b - a).cross(&(c - a)).dot(&(d - a));
    let holds = |tet: &&[u32; 4]| {
        let corners = tet.map(|vertex| mesh.vertices[vertex as usize]);
        let whole = volume(corners);
        (0..4).all(|i| {
            let mut part = corners;
            part[i] = *point;
            volume(part) > margin * whole
        })
    };
    mesh.tets.iter().filter(holds).count()
}

/// Random points of tetrahedra lie in no second one.
fn check_overlap(filling: &Filling, name: &str) {
    let mut random = Random::new(1);
    let mesh = &filling.mesh;
    for tet in mesh.tets.iter().step_by(1 + mesh.tets.len() / 500) {
        let weights: [f64; 4] = std::array::from_fn(|_| 0.55 + 0.5 * random.next());
        let sum: f64 = weights.iter().sum();
        let point = (0..4).map(|i| mesh.vertices[tet[i] as usize] * (weights[i] / sum)).sum();
        assert_eq!(holders(mesh, &point, 1e-9), 1, "{name}: tetrahedra overlap at {point:?}");
    }
}

/// A cube inside a cube, turned the same way, adds nothing to it: the volume is that of the outer one, which
/// a lattice with an even number of cells along its edges fills exactly.
#[test]
fn a_part_inside_the_material_of_another_adds_nothing() {
    for edge in [0.01, 0.02, 0.04, 0.06, 0.09] {
        let surface = joined(cube(0.1), &cube(edge));
        let checked = check_surface(&surface).unwrap();
        assert_eq!((checked.report.components, checked.report.cavities, checked.report.buried), (2, 0, 1), "{edge}");
        assert!(checked.report.repairs().unwrap().contains("1 components inside"), "{edge}");
        let filling = filled(&surface, 0.0125);
        assert!(filling.quality.volume_error.abs() < 1e-12, "{edge}: {:?}", filling.quality);
        assert!((filling.quality.volume - 1e-3).abs() < 1e-15, "{edge}");
        assert!((filling.deepest - 0.05).abs() < 1e-12, "{edge}: {}", filling.deepest);
        check_mesh(&filling.mesh, &filling.depth, "nested");
        check_overlap(&filling, "nested");
    }
}

/// A hollow cube that is entirely inside out becomes the same body as one that is not, also with a part in
/// its hole.
#[test]
fn a_hollow_mesh_inside_out_stays_hollow() {
    let hollow = 1e-3 - 0.04_f64.powi(3);
    let with_kernel = joined(box_with_cavity(), &cube(0.02));
    for (surface, cavities, volume) in [(box_with_cavity(), 1, hollow), (with_kernel, 1, hollow + 0.02_f64.powi(3))] {
        for surface in [surface.clone(), inside_out(surface)] {
            let checked = check_surface(&surface).unwrap();
            assert_eq!((checked.report.cavities, checked.report.buried), (cavities, 0), "{:?}", checked.report);
            let enclosed = isobar::geometry::make::centroid(&checked.mesh).0;
            assert!((enclosed - volume).abs() < 1e-15, "{enclosed} {volume}");
            let filling = filled(&rotated(&surface, Vector3::new(0.3, 0.2, 0.1)), 0.008);
            check_overlap(&filling, "hollow");
            let middle = holders(&filling.mesh, &Vector3::new(0.0, 0.0, 0.0), -1e-9);
            assert_eq!(middle > 0, checked.report.components == 3, "the hole is empty, or holds its part");
        }
    }
}

/// Shells in shells alternate: material, hole, material, hole, in any orientation except for those that are
/// turned as material inside material.
#[test]
fn shells_alternate_from_outside_in() {
    let edges = [0.1, 0.08, 0.06, 0.04];
    let volume: f64 =
        edges.iter().zip([1.0, -1.0, 1.0, -1.0]).map(|(edge, sign): (&f64, f64)| sign * edge.powi(3)).sum();
    let nest = |turned: [bool; 4]| {
        let shells = edges.iter().zip(turned);
        shells.fold(SurfaceMesh::default(), |all, (edge, turned)| {
            joined(all, &if turned { inside_out(cube(*edge)) } else { cube(*edge) })
        })
    };
    for turned in
        [[false, true, false, true], [true, false, true, false], [true, true, false, true], [false, true, true, true]]
    {
        let checked = check_surface(&nest(turned)).unwrap();
        assert_eq!((checked.report.cavities, checked.report.buried), (2, 0), "{turned:?}");
        let enclosed = isobar::geometry::make::centroid(&checked.mesh).0;
        assert!((enclosed - volume).abs() < 1e-15, "{turned:?}: {enclosed} {volume}");
    }
}

/// A cavity inside the overlap of two parts is taken from one of them only, which is said; one in a single
/// part, and one in a part inside another, are cut out.
#[test]
fn cavities_that_another_part_fills_are_named() {
    let cuboid_at = |half: [f64; 3], x: f64| {
        let mut part = cuboid(Vector3::from(half));
        part.vertices.iter_mut().for_each(|p| p.x += x);
        part
    };
    let block = |x: f64| cuboid_at([0.05, 0.04, 0.045], x);
    let hole = |x: f64| inside_out(cuboid_at([0.015, 0.02, 0.02], x));
    let overlapping = joined(block(0.0), &cuboid_at([0.05, 0.05, 0.05], 0.05));
    for (surface, filled_cavities) in [
        (joined(overlapping.clone(), &hole(0.025)), 1),
        (joined(overlapping, &hole(-0.03)), 0),
        (joined(joined(cuboid_at([0.06, 0.06, 0.06], 0.0), &block(0.0)), &hole(0.0)), 0),
    ] {
        let report = check_surface(&surface).unwrap().report;
        assert_eq!((report.cavities, report.filled_cavities), (1, filled_cavities), "{report:?}");
        let says = report.repairs().is_some_and(|repairs| repairs.contains("1 cavities filled where several parts"));
        assert_eq!(says, filled_cavities == 1, "{:?}", report.repairs());
    }
}

/// Each of two overlapping parts has its own hole at the same place. Holes that differ by half a millimetre,
/// or by their triangles only, leave the overlap empty, and nothing is said. A shorter hole, or a bubble,
/// leaves a part of the larger one filled. With the same triangles they count once: the hole is filled, and
/// the advice is to unite the parts.
#[test]
fn holes_of_every_part_are_empty_or_named() {
    let cuboid_at = |half: [f64; 3], x: f64| {
        let mut part = cuboid(Vector3::from(half));
        part.vertices.iter_mut().for_each(|p| p.x += x);
        part
    };
    let blocks = joined(cuboid_at([0.05, 0.04, 0.045], 0.0), &cuboid_at([0.05, 0.05, 0.05], 0.05));
    let hole = |half: [f64; 3]| inside_out(cuboid_at(half, 0.025));
    let large = [0.016, 0.02, 0.02];
    let finer = |half: [f64; 3]| {
        let mut part = inside_out(super::wraps::gridded(Vector3::from(half), 3));
        part.vertices.iter_mut().for_each(|p| p.x += 0.025);
        part
    };
    for (name, a, b, filled_cavities) in [
        ("smaller", hole(large), hole([0.0155, 0.0195, 0.0195]), 0),
        ("equal, finer", hole(large), finer(large), 0),
        ("shorter", hole(large), hole([0.016, 0.02, 0.009]), 1),
        ("a bubble", hole(large), hole([0.002, 0.002, 0.002]), 1),
    ] {
        for surface in [joined(joined(blocks.clone(), &a), &b), joined(joined(blocks.clone(), &b), &a)] {
            let report = check_surface(&surface).unwrap().report;
            assert_eq!((report.cavities, report.filled_cavities), (2, filled_cavities), "{name}: {report:?}");
        }
    }
    let twice = joined(joined(blocks, &hole(large)), &hole(large));
    let report = check_surface(&twice).unwrap().report;
    assert_eq!((report.cavities, report.filled_cavities), (1, 1), "{report:?}");
    let repairs = report.repairs().unwrap();
    assert!(repairs.contains("(unite the parts") && !repairs.contains("cut"), "{repairs}");
}

/// A box in a larger one, united with it, whose hidden top ends 1.5 mm below the outer one's: the flat top
/// stays flat, since only edges that are seen attract vertices.
#[test]
fn hidden_edges_make_no_grooves() {
    let mut inner = cuboid(Vector3::new(0.03, 0.03, 0.035));
    inner.vertices.iter_mut().for_each(|p| p.z += 0.025 - 0.0015 - 0.035);
    let surface = joined(cuboid(Vector3::new(0.05, 0.05, 0.025)), &inner);
    let filling = stuffed(&surface, 0.006);
    let top = filling
        .mesh
        .vertices
        .iter()
        .zip(&filling.depth)
        .filter(|(p, depth)| **depth == 0.0 && p.z > 0.015 && p.x.abs() < 0.04 && p.y.abs() < 0.04);
    let off: Vec<f64> = top.map(|(p, _)| (p.z - 0.025).abs()).collect();
    // The lattice has a vertex of the boundary for each square of the spacing.
    let squares = (0.08 / filling.spacing).floor().powi(2);
    assert!(off.len() as f64 >= squares, "{} vertices, {squares} squares", off.len());
    assert!(off.iter().all(|off| *off < 1e-9), "{off:?} m");
}

/// A block with a slot narrower than the lattice: vertices that move onto the edges of one wall do not go
/// through the other.
#[test]
fn walls_of_a_narrow_slot_stay_apart() {
    for (turn, slot) in [(0.0, 4e-4), (0.7, 1e-3), (1.7, 3e-3)] {
        let (half, depth) = (0.5 * slot, 0.03);
        let outline = [
            [-0.03, 0.0],
            [0.03, 0.0],
            [0.03, 0.04],
            [half, 0.04],
            [half, 0.04 - depth],
            [-half, 0.04 - depth],
            [-half, 0.04],
            [-0.03, 0.04],
        ];
        let caps = [[0, 5, 7], [5, 6, 7], [0, 1, 5], [1, 4, 5], [1, 2, 4], [2, 3, 4]];
        let surface = rotated(&prism(&outline, 0.015, &caps), Vector3::new(0.4, -0.7, 0.5) * turn);
        for hint in [0.012, 0.008] {
            let filling = filled(&surface, hint);
            check_mesh(&filling.mesh, &filling.depth, "slot");
            assert_eq!(check_cells(&filling.mesh), Ok(()));
            check_overlap(&filling, "slot");
        }
    }
}

/// Defects of given tetrahedra are errors that name them: without volume, two on the same side of a face,
/// intersecting, one inside another. Reversed orientation is not a defect.
#[test]
fn overlapping_and_flat_tetrahedra_are_refused() {
    let good = VolumeMesh {
        vertices: vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z(), Vector3::repeat(1.0)],
        tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
    };
    assert_eq!(check_cells(&good), Ok(()));
    let with = |vertices: &[Vector3], tet: [u32; 4]| {
        let mut mesh = good.clone();
        mesh.vertices.extend(vertices);
        mesh.tets.push(tet);
        match check_cells(&mesh) {
            Err(defect) => defect,
            other => panic!("{other:?}"),
        }
    };
    let half = Vector3::repeat(0.5);
    assert!(matches!(with(&[Vector3::new(0.5, 0.5, 0.0)], [0, 1, 2, 5]), CellDefect::Flat { tet: 2, .. }));
    assert!(matches!(with(&[half], [1, 2, 3, 5]), CellDefect::Overlap { tets: [1, 2], .. }));
    let through = [0.1, 0.4, 0.7].map(|x| Vector3::new(x, 0.3 * x, 0.2)).to_vec();
    let mut needle = through.clone();
    needle.push(Vector3::new(0.1, 0.1, -0.5));
    assert!(matches!(with(&needle, [5, 6, 7, 8]), CellDefect::Boundary { .. } | CellDefect::Flat { .. }));
    let inside = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()].map(|x| Vector3::repeat(0.15) + x * 0.1);
    assert!(matches!(with(&inside, [5, 6, 7, 8]), CellDefect::Boundary { .. }));
}
