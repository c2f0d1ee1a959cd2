//! Polygons of mesh files that are not convex or have holes.

use isobar::geometry::SurfaceMesh;
use isobar::io::mesh_files::{MeshData, read_bytes};
use isobar::math::Vector3;

const ONE: Vector3 = Vector3::new(1.0, 1.0, 1.0);

fn surface(text: &str, file: &str) -> SurfaceMesh {
    match read_bytes(text.as_bytes(), file.as_ref(), &ONE).unwrap() {
        MeshData::Surface(mesh) => mesh,
        MeshData::Volume { .. } => panic!("a surface was expected"),
    }
}

/// Sum of the areas of a flat mesh along z, and of their magnitudes: equal if no triangle is turned, and
/// equal to the polygon's area if no triangle covers what lies outside it.
fn areas(mesh: &SurfaceMesh) -> (f64, f64) {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|vertex| mesh.vertices[vertex as usize]);
        0.5 * (b - a).cross(&(c - a)).z
    };
    (mesh.triangles.iter().map(area).sum(), mesh.triangles.iter().map(|t| area(t).abs()).sum())
}

/// An OBJ file of one polygon in the plane z = 0.
fn obj(corners: &[[f64; 2]]) -> String {
    let vertices: String = corners.iter().map(|[x, y]| format!("v {x} {y} 0\n")).collect();
    let face: String = (1..=corners.len()).map(|k| format!(" {k}")).collect();
    format!("{vertices}f{face}\n")
}

/// A profile of the shape of a U, from each of its corners. Regression: six of the eight files had triangles
/// over the opening, on which a rigid ball came to rest.
#[test]
fn a_concave_polygon_is_cut_without_covering_its_opening() {
    let corners = [[0., 0.], [10., 0.], [10., 10.], [7., 10.], [7., 3.], [3., 3.], [3., 10.], [0., 10.]];
    for start in 0..8 {
        let mut turned = corners;
        turned.rotate_left(start);
        let mesh = surface(&obj(&turned), "u.obj");
        let (sum, covered) = areas(&mesh);
        assert!((sum - 72.0).abs() < 1e-12 && (covered - 72.0).abs() < 1e-12, "{start}: {sum} {covered}");
        assert_eq!(mesh.triangles.len(), 6);
    }
}

/// Stars with a point on every side: no triangle covers the outside, and each side of the outline is a side
/// of one triangle, so that a surface of such polygons stays closed.
#[test]
fn every_corner_of_a_polygon_is_used_also_on_straight_sides() {
    for seed in 0..40 {
        let count = 5 + seed % 9;
        let tips: Vec<[f64; 2]> = (0..count)
            .map(|k| {
                let (sin, cos) = (std::f64::consts::TAU * k as f64 / count as f64).sin_cos();
                let radius = 1.0 + 0.9 * ((seed * 31 + k * k * 17) as f64).sin();
                [radius * cos, radius * sin]
            })
            .collect();
        let middle = |k: usize| [0, 1].map(|axis| 0.5 * (tips[k][axis] + tips[(k + 1) % count][axis]));
        let star: Vec<[f64; 2]> = (0..count).flat_map(|k| [tips[k], middle(k)]).collect();
        let cross = |k: usize| {
            let ([ax, ay], [bx, by]) = (star[k], star[(k + 1) % star.len()]);
            0.5 * (ax * by - ay * bx)
        };
        let exact: f64 = (0..star.len()).map(cross).sum();
        let mesh = surface(&obj(&star), "star.obj");
        let (sum, covered) = areas(&mesh);
        assert!((sum - exact).abs() < 1e-12 && (covered - exact).abs() < 1e-9, "{seed}: {sum} {covered} {exact}");
        // Vertices are numbered as they first appear, so sides are found by position.
        let at = |k: usize| Vector3::new(star[k % star.len()][0], star[k % star.len()][1], 0.0);
        for k in 0..star.len() {
            let is_side = |t: &&[u32; 3]| {
                let p = t.map(|vertex| mesh.vertices[vertex as usize]);
                (0..3).any(|i| p[i] == at(k) && p[(i + 1) % 3] == at(k + 1))
            };
            assert_eq!(mesh.triangles.iter().filter(is_side).count(), 1, "{seed}: side {k}");
        }
    }
}

/// A flat polygon in a COLLADA file, its outline first and then its holes.
fn holed(loops: &[Vec<[f64; 2]>]) -> SurfaceMesh {
    let positions: String = loops.iter().flatten().map(|[x, y]| format!("{x} {y} 0 ")).collect();
    let mut next = 0;
    let rings = loops.iter().map(|corners| {
        let ring: String = (next..next + corners.len()).map(|number| format!("{number} ")).collect();
        next += corners.len();
        ring
    });
    let rings: Vec<String> = rings.collect();
    let holes: String = rings[1..].iter().map(|ring| format!("<h>{ring}</h>")).collect();
    let text = format!(
        "<COLLADA><library_geometries><geometry id='g'><mesh><source id='s'><float_array id='a'>{positions}</float_array></source>\
         <vertices id='v'><input semantic='POSITION' source='#s'/></vertices><polygons count='1'>\
         <input semantic='VERTEX' source='#v' offset='0'/><ph><p>{}</p>{holes}</ph></polygons></mesh></geometry>\
         </library_geometries></COLLADA>",
        rings[0]
    );
    surface(&text, "plate.dae")
}

/// A plate with three holes, one of them turned like the outline; a triangle with a hole; and a plate whose
/// corner that is nearest to the hole lies behind it. Regression: holes were covered.
#[test]
fn holes_of_polygons_stay_open() {
    let square = |x: f64, y: f64, s: f64| vec![[x, y], [x, y + s], [x + s, y + s], [x + s, y]];
    let mut turned = square(5.0, 5.0, 3.0);
    turned.reverse();
    let plate = vec![[0., 0.], [10., 0.], [10., 10.], [0., 10.]];
    let behind = vec![[-1., -1.], [0., -1.], [1., -1.], [0., 1.]];
    let low = vec![[-0.2, -0.5], [-0.2, -0.2], [0.2, -0.2], [0.2, -0.5]];
    let cases = [
        (vec![plate, square(1.0, 1.0, 2.0), turned, square(1.0, 5.0, 3.5)], 100.0 - 4.0 - 9.0 - 12.25),
        (vec![vec![[0., 0.], [4., 0.], [0., 4.]], square(0.5, 0.5, 1.0)], 8.0 - 1.0),
        (vec![behind, low], 2.0 - 0.12),
    ];
    for (loops, exact) in cases {
        let mesh = holed(&loops);
        let (sum, covered) = areas(&mesh);
        assert!((sum - exact).abs() < 1e-12 && (covered - exact).abs() < 1e-12, "{loops:?}: {sum} {covered}");
        let corners: usize = loops.iter().map(Vec::len).sum();
        assert_eq!(mesh.triangles.len(), corners + 2 * (loops.len() - 1) - 2);
    }
}
