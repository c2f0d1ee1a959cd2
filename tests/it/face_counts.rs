//! How many corners a contact polygon has where one grid lies over another, which is how many triangles the fan of it has.

use isobar::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticGeometry, HydroelasticWorkspace, SurfaceMesh, VolumeMesh,
    contact_surface,
};
use isobar::math::{RigidTransform, Vector3};

/// Rows and columns of rhombi in a grid.
const CELLS: u32 = 48;

/// A plane grid of equilateral triangles with edges `edge` [m], about the origin and turned by `angle` about z [rad].
fn grid(edge: f64, angle: f64) -> SurfaceMesh {
    let direction = |angle: f64| edge * Vector3::new(angle.cos(), angle.sin(), 0.0);
    let (a, b) = (direction(angle), direction(angle + std::f64::consts::FRAC_PI_3));
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

/// A far apex over that grid: a section parallel to the grid is the grid, a little smaller.
fn pyramid(edge: f64, angle: f64) -> HydroelasticGeometry {
    let SurfaceMesh { mut vertices, triangles } = grid(edge, angle);
    let apex = vertices.len() as u32;
    vertices.push(Vector3::new(0.0, 0.0, 10.0));
    let pressure = (0..=apex).map(|vertex| if vertex == apex { 1e6 } else { 0.0 }).collect();
    let tets = triangles.iter().map(|&[a, b, c]| [a, b, c, apex]).collect();
    HydroelasticGeometry::from_volume(VolumeMesh { vertices, tets }, pressure).expect("a volume")
}

/// Mean corners by Euler's formula. A vertex of a grid has six edges and a crossing four; with V vertices and X crossings on an area there are
/// E = 3 V + 2 X edges and F = E - V - X faces, whose corners are 2 E. A grid with edges l has 2/(sqrt(3) l^2) vertices and 2 sqrt(3)/l of
/// edge on a unit of area, a third of it in each of three directions.
fn mean_corners(edges: [f64; 2], angle: f64) -> f64 {
    let vertices: f64 = edges.iter().map(|l| 2.0 / (3.0_f64.sqrt() * l * l)).sum();
    let sine = |k: i32| (angle + f64::from(k) * std::f64::consts::FRAC_PI_3).sin().abs();
    let crossings = 12.0 / (edges[0] * edges[1]) * (sine(0) + sine(1) + sine(2)) / 3.0;
    (6.0 * vertices + 4.0 * crossings) / (2.0 * vertices + crossings)
}

/// Oracle: Euler's formula. Of two triangulations one over the other, the polygons have 3.5 to 3.6 corners on average, and fans have as many
/// triangles; only at the rim of a patch there are more.
#[test]
fn polygons_of_two_grids_have_the_corners_of_eulers_formula() {
    let at = |z: f64| RigidTransform::translation(0.0, 0.0, z);
    for (edges, angle) in [([0.010, 0.010], 0.3), ([0.010, 0.0083], 0.5), ([0.010, 0.015], 0.17), ([0.010, 0.025], 0.4)]
    {
        let (volume, plate) =
            (pyramid(edges[0], 0.0), HydroelasticGeometry::from_surface(grid(edges[1], angle)).expect("a surface"));
        let surface = |representation| {
            let (mut workspace, mut surface) = (HydroelasticWorkspace::default(), ContactSurface::new());
            workspace.representation = representation;
            contact_surface(&volume, &at(0.0), &plate, &at(1e-3), &mut workspace, &mut surface)
                .expect("a pair that can touch");
            surface
        };
        // well inside both grids
        let inner = |p: &Vector3| p.x.hypot(p.y) < 0.13;
        let polygons = surface(FaceRepresentation::Polygon);
        let faces: Vec<usize> = (0..polygons.len()).filter(|face| inner(&polygons.centroid[*face])).collect();
        let corners: usize = faces.iter().map(|face| polygons.polygon(*face).0.len()).sum();
        let (mean, law) = (corners as f64 / faces.len() as f64, mean_corners(edges, angle));
        println!(
            "edges {edges:?} m, turned by {angle}: {mean:.3} corners on {} faces, by the law {law:.3}",
            faces.len()
        );
        assert!(faces.len() > 800 && (mean / law - 1.0).abs() < 0.01);
        let all: usize = (0..polygons.len()).map(|face| polygons.polygon(face).0.len()).sum();
        assert_eq!(surface(FaceRepresentation::TriangleFan).len(), all);
    }
}
