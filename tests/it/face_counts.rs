//! The number of corners of a contact polygon between two grids, which is the number of triangles in its fan.

use isobar::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticGeometry, HydroelasticWorkspace, SurfaceMesh, VolumeMesh,
    contact_surface,
};
use isobar::math::{RigidTransform, Vector3};

/// Rows and columns of parallelograms in a grid.
const CELLS: u32 = 64;

/// Edges that span a plane grid [m]: its cells are parallelograms, each divided by the edge from the end of
/// the first to that of the second.
type Edges = [Vector3; 2];

/// Edges of length `a` and `b` [m] with `between` them, turned by `angle` about z [rad].
fn edges(a: f64, b: f64, between: f64, angle: f64) -> Edges {
    [(a, angle), (b, angle + between)].map(|(length, angle)| length * Vector3::new(angle.cos(), angle.sin(), 0.0))
}

/// The grid about the origin.
fn grid([a, b]: Edges) -> SurfaceMesh {
    let middle = 0.5 * f64::from(CELLS);
    let places = (0..=CELLS).flat_map(|i| (0..=CELLS).map(move |j| (f64::from(i) - middle, f64::from(j) - middle)));
    let vertices = places.map(|(i, j)| i * a + j * b).collect();
    let corner = |i: u32, j: u32| i * (CELLS + 1) + j;
    let cells = (0..CELLS).flat_map(|i| (0..CELLS).map(move |j| (i, j)));
    let triangles = cells.flat_map(|(i, j)| {
        let [p, q, r, s] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        [[p, q, s], [q, r, s]]
    });
    SurfaceMesh { vertices, triangles: triangles.collect() }
}

/// Tetrahedra from that grid to a far apex: a section parallel to the grid is the grid at a slightly smaller
/// scale.
fn pyramid(edges: Edges) -> HydroelasticGeometry {
    let SurfaceMesh { mut vertices, triangles } = grid(edges);
    let apex = vertices.len() as u32;
    vertices.push(Vector3::new(0.0, 0.0, 10.0));
    let pressure = (0..=apex).map(|vertex| if vertex == apex { 1e6 } else { 0.0 }).collect();
    let tets = triangles.iter().map(|&[a, b, c]| [a, b, c, apex]).collect();
    HydroelasticGeometry::from_volume(VolumeMesh { vertices, tets }, pressure).expect("a volume")
}

/// Mean corners by Euler's formula. A vertex of a grid has six edges and a crossing four; with V vertices and
/// X crossings on an area there are E = 3 V + 2 X edges and F = E - V - X faces, whose corners are 2 E. A
/// cell of area S has one vertex and one edge of each of three directions; edges u of one grid and w of the
/// other cross |u x w| / (S S') times on a unit of area.
fn mean_corners(grids: [Edges; 2]) -> f64 {
    let densities = grids.map(|[a, b]| 1.0 / a.cross(&b).norm());
    let directions = grids.map(|[a, b]| [a, b, b - a]);
    let pairs = directions[0].iter().flat_map(|u| directions[1].iter().map(move |w| u.cross(w).norm()));
    let crossings = pairs.sum::<f64>() * densities[0] * densities[1];
    let vertices = densities[0] + densities[1];
    (6.0 * vertices + 4.0 * crossings) / (2.0 * vertices + crossings)
}

/// Oracle: Euler's formula. Where one triangulation lies over another, polygons have between three and four
/// corners on average, and fans have as many triangles: 3.5 to 3.63 for triangles as wide as long, and more
/// for narrower ones.
#[test]
fn polygons_of_two_grids_have_the_corners_of_eulers_formula() {
    let at = |z: f64| RigidTransform::translation(0.0, 0.0, z);
    let regular = |edge, angle| edges(edge, edge, std::f64::consts::FRAC_PI_3, angle);
    let ours = regular(0.010, 0.0);
    let others = [
        regular(0.010, 0.3),
        regular(0.0083, 0.5),
        regular(0.015, 0.17),
        regular(0.025, 0.4),
        edges(0.005, 0.040, 1.4, 0.3),
    ];
    for other in others {
        let (volume, plate) = (pyramid(ours), HydroelasticGeometry::from_surface(grid(other)).expect("a surface"));
        let surface = |representation| {
            let (mut workspace, mut surface) = (HydroelasticWorkspace::default(), ContactSurface::new());
            workspace.representation = representation;
            contact_surface(&volume, &at(0.0), &plate, &at(1e-3), &mut workspace, &mut surface)
                .expect("a pair that can touch");
            surface
        };
        // Well inside both grids.
        let inner = |p: &Vector3| p.x.hypot(p.y) < 0.13;
        let polygons = surface(FaceRepresentation::Polygon);
        let faces: Vec<usize> = (0..polygons.len()).filter(|face| inner(&polygons.centroid[*face])).collect();
        let corners: usize = faces.iter().map(|face| polygons.polygon(*face).0.len()).sum();
        let (mean, law) = (corners as f64 / faces.len() as f64, mean_corners([ours, other]));
        let [a, b] = other.map(|edge| 1e3 * edge.norm());
        println!(
            "edges of 10 mm over {a:.1} and {b:.1} mm: {mean:.3} corners on {} faces, by the law {law:.3}",
            faces.len()
        );
        assert!(faces.len() > 800 && (mean / law - 1.0).abs() < 0.01);
        let all: usize = (0..polygons.len()).map(|face| polygons.polygon(face).0.len()).sum();
        assert_eq!(surface(FaceRepresentation::TriangleFan).len(), all);
    }
}
