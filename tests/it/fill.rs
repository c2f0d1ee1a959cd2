//! Laws of filled meshes: contents, quality, and refusals.

mod defects;
mod fits;
mod forces;
mod given;
pub(crate) mod holes;
mod nested;
mod others;
pub(crate) mod surfaces;
mod wraps;

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

use isobar::geometry::fill::{FillError, FillSettings, Filling, fill};
use isobar::geometry::{
    ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, PressureField, Shape,
    SurfaceMesh, VolumeMesh, contact_surface,
};
use isobar::io::mesh_files::{self, MeshData};
use isobar::math::{RigidTransform, Rotation, Vector3};
use surfaces::{ball, box_with_cavity, bridge, cuboid, ell, rotated, torus};

/// The dihedral angles that the stuffing of a lattice keeps [Labelle & Shewchuk 2007], and those that remain
/// where its boundary was divided [degrees].
const STUFFED_ANGLES: (f64, f64) = (10.7, 164.8);
const FITTED_ANGLES: (f64, f64) = (1.0, 177.0);

fn filled(surface: &SurfaceMesh, hint: f64) -> Filling {
    fill(surface, &FillSettings { resolution_hint: Some(hint), ..FillSettings::default() }).unwrap()
}

/// A filling whose boundary is not divided.
fn stuffed(surface: &SurfaceMesh, hint: f64) -> Filling {
    let settings =
        FillSettings { resolution_hint: Some(hint), surface_tolerance: Some(1.0), ..FillSettings::default() };
    fill(surface, &settings).unwrap()
}

/// Positive volumes, two tetrahedra at each inner face, turned against each other, and angles within the
/// guarantee. A face of one tetrahedron only has all its corners on the surface (`depth` zero): else it is a
/// crack, as where neighbours split a quadrilateral differently.
fn check_mesh(mesh: &VolumeMesh, depth: &[f64], name: &str) {
    check_within(mesh, depth, name, FITTED_ANGLES);
}

fn check_within(mesh: &VolumeMesh, depth: &[f64], name: &str, angles: (f64, f64)) {
    let mut faces: BTreeMap<[u32; 3], Vec<bool>> = BTreeMap::new();
    for tet in &mesh.tets {
        let [a, b, c, d] = tet.map(|vertex| mesh.vertices[vertex as usize]);
        assert!((b - a).cross(&(c - a)).dot(&(d - a)) > 0.0, "{name}: a tetrahedron is inverted");
        for [i, j, k] in [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]].map(|face| face.map(|corner: usize| tet[corner]))
        {
            let mut key = [i, j, k];
            key.sort_unstable();
            let at = [i, j, k].iter().position(|vertex| *vertex == key[0]).unwrap();
            faces.entry(key).or_default().push([i, j, k][(at + 1) % 3] == key[1]);
        }
    }
    for (face, turns) in &faces {
        let on_surface = face.iter().all(|vertex| depth[*vertex as usize] == 0.0);
        let conforms = if turns.len() == 1 { on_surface } else { turns.len() == 2 && turns[0] != turns[1] };
        assert!(conforms, "{name}: face {face:?} inside belongs to {} tetrahedra", turns.len());
    }
    let (min, max) = isobar::geometry::fill::dihedral_range(mesh);
    let (min, max) = (min.to_degrees(), max.to_degrees());
    assert!(min >= angles.0 - 1e-9 && max <= angles.1 + 1e-9, "{name}: dihedral angles from {min} to {max}");
}

fn on_boundary(filling: &Filling) -> Vec<Vector3> {
    let pairs = filling.mesh.vertices.iter().zip(&filling.depth);
    pairs.filter(|(_, depth)| **depth == 0.0).map(|(vertex, _)| *vertex).collect()
}

/// Every shape, every orientation and resolution: conforming, positive, within the angles; every tetrahedron
/// has a vertex inside, so none is without pressure; the pressure runs from zero to nearly E.
#[test]
fn tetrahedra_conform_and_keep_their_angles() {
    let surfaces = [("ball", ball(0.05, 0.01)), ("torus", torus()), ("ell", ell()), ("cavity", box_with_cavity())];
    for (name, surface) in surfaces {
        for turn in 0..6 {
            let surface = rotated(&surface, Vector3::new(0.3, -0.7, 0.5) * f64::from(turn));
            for hint in [0.016, 0.011] {
                let plain = stuffed(&surface, hint);
                check_within(&plain.mesh, &plain.depth, name, STUFFED_ANGLES);
                let filling = filled(&surface, hint);
                check_mesh(&filling.mesh, &filling.depth, name);
                let modulus = 3e5;
                let pressure = filling.pressure(modulus);
                for tet in &filling.mesh.tets {
                    assert!(tet.iter().any(|vertex| pressure[*vertex as usize] > 0.0), "{name}: no vertex inside");
                }
                assert!(pressure.iter().all(|p| (0.0..=modulus).contains(p)));
                // E belongs to the deepest point of the surface; the lattice's deepest vertex is less deep.
                let largest = pressure.iter().fold(0.0_f64, |largest, p| largest.max(*p));
                assert!(largest > 0.7 * modulus && pressure.contains(&0.0), "{name}: {largest} Pa");
                let field = PressureField::new(filling.mesh, pressure).unwrap();
                assert_eq!(field.skipped(), 0);
                assert!(field.linear().iter().all(|linear| linear.gradient.iter().all(|g| g.is_finite())));
            }
        }
    }
}

/// Chords of a smooth surface miss a volume that falls with the square of the edge length.
#[test]
fn volume_of_smooth_bodies_converges_at_second_order() {
    for (name, surface) in [("ball", ball(0.05, 0.004)), ("torus", torus())] {
        let errors = [0.02, 0.01, 0.005].map(|hint| stuffed(&surface, hint).quality.volume_error.abs());
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            // The share of lattice points that move to the surface changes the constant by some ten percent.
            assert!(order > 1.6, "{name}: errors {errors:?}");
        }
    }
}

/// A sharp edge is cut by at most a triangle with legs h: over all edges L, a volume of L h^2 / 2.
#[test]
fn volume_of_bodies_with_edges_is_second_order() {
    // Edges: box 4 (a + b + c); the L has 6 upright edges of 0.03 and two outlines of 0.4; the cavity has the
    // edges of two boxes.
    let box_edges = 4.0 * (0.05 + 0.04 + 0.03) * 2.0;
    let cases = [("box", cuboid(Vector3::new(0.05, 0.04, 0.03)), box_edges, 8.0 * 0.05 * 0.04 * 0.03)];
    let (ell_edges, cavity_edges) = (6.0 * 0.03 + 2.0 * 0.4, 12.0 * 0.1 + 12.0 * 0.04);
    let cases = cases.into_iter().chain([
        ("ell", ell(), ell_edges, 0.03 * (0.1 * 0.1 - 0.06 * 0.06)),
        ("cavity", box_with_cavity(), cavity_edges, 0.1_f64.powi(3) - 0.04_f64.powi(3)),
    ]);
    for (name, surface, edges, volume) in cases {
        for turn in 0..3 {
            for hint in [0.012, 0.007] {
                let filling = filled(&rotated(&surface, Vector3::new(1.0, 2.0, 3.0) * f64::from(turn)), hint);
                let bound = 0.5 * edges * filling.spacing.powi(2) / volume;
                assert!(filling.quality.volume_error.abs() < bound, "{name} at {hint}: {:?}", filling.quality);
                assert!(filling.quality.filling_to_surface < filling.spacing, "{name} at {hint}");
            }
        }
    }
}

/// Every vertex on the boundary lies on the surface, to rounding: the closed form is the distance to boxes.
#[test]
fn boundary_vertices_lie_on_the_surface() {
    let half = Vector3::new(0.05, 0.04, 0.03);
    let outside = |x: &Vector3, center: &Vector3, half: &Vector3| ((x - center).abs() - half).max();
    for vertex in on_boundary(&filled(&cuboid(half), 0.0093)) {
        assert!(outside(&vertex, &Vector3::zeros(), &half).abs() < 1e-12, "{vertex:?}");
    }
    for vertex in on_boundary(&filled(&ell(), 0.0073)) {
        let first = outside(&vertex, &Vector3::new(0.05, 0.02, 0.0), &Vector3::new(0.05, 0.02, 0.015));
        let second = outside(&vertex, &Vector3::new(0.02, 0.05, 0.0), &Vector3::new(0.02, 0.05, 0.015));
        assert!(first.min(second).abs() < 1e-12, "{vertex:?}");
    }
}

/// Closed form F = pi E d^2 (1 - 2 d / (3 R)), with an error of second order in the edge length.
#[test]
fn ball_on_a_half_space_approaches_the_closed_form() {
    let (radius, modulus, depth) = (0.05, 1e5, 0.015);
    let closed = PI * modulus * depth * depth * (1.0 - 2.0 * depth / (3.0 * radius));
    let surface = ball(radius, 0.003);
    let errors = [0.016, 0.008, 0.004].map(|hint| {
        let filling = stuffed(&surface, hint);
        let pressure = filling.pressure(modulus);
        let soft = HydroelasticGeometry::from_volume(filling.mesh, pressure).unwrap();
        let force = on_floor(&soft, &RigidTransform::translation(0.0, 0.0, radius - depth)).static_wrench_on_B().f;
        (-force.z - closed).abs() / closed
    });
    // The chords of the surface that is filled (edges of 3 mm) are 0.05 % of the radius inside: 0.3 % of the
    // force.
    assert!(errors[2] < 0.02 && errors[2] < 0.5 * errors[1] && errors[1] < 0.5 * errors[0], "{errors:?}");
}

fn on_floor(soft: &HydroelasticGeometry, X_WA: &RigidTransform) -> ContactSurface {
    let (mut workspace, mut surface) = (HydroelasticWorkspace::default(), ContactSurface::new());
    let floor = HydroelasticGeometry::RigidHalfSpace;
    contact_surface(soft, X_WA, &floor, &RigidTransform::identity(), &mut workspace, &mut surface).unwrap();
    surface
}

fn compliant_mesh(surface: SurfaceMesh, hint: f64) -> HydroelasticGeometry {
    let parameters = HydroelasticParameters {
        compliant: Some(1e5),
        resolution_hint: Some(hint),
        slab_thickness: None,
        margin: 0.0,
        ..Default::default()
    };
    HydroelasticGeometry::new(&Shape::Mesh(Arc::new(surface)), &parameters).unwrap()
}

/// A bridge stands on both legs and not on the gap between them, unlike its convex hull.
#[test]
fn a_bridge_stands_on_both_legs() {
    let soft = compliant_mesh(bridge(), 0.006);
    let surface = on_floor(&soft, &RigidTransform::translation(0.0, 0.0, -0.003));
    let (mut left, mut right) = (0.0, 0.0);
    for face in 0..surface.len() {
        let x = surface.centroid[face].x;
        assert!(x.abs() > 0.03 - 1e-9, "a face at x = {x} between the legs");
        *(if x < 0.0 { &mut left } else { &mut right }) += surface.area[face];
    }
    // Each sole is 20 mm by 30 mm; the edges around it are cut by less than h / 2.
    for area in [left, right] {
        assert!(area > 0.014 * 0.024 && area < 0.02 * 0.03, "{area}");
    }
    assert!((left - right).abs() < 0.05 * left, "{left} and {right}");
}

/// The same input gives the same bits.
#[test]
fn filling_is_deterministic() {
    let surface = rotated(&torus(), Vector3::new(0.1, 0.2, 0.3));
    assert_eq!(filled(&surface, 0.008), filled(&surface, 0.008));
}

/// A written file is read back bit for bit.
#[test]
fn a_written_filling_reads_back() {
    let filling = filled(&torus(), 0.012);
    let pressure = filling.pressure(1e6);
    let path = std::env::temp_dir().join(format!("isobar_fill_{}.vtk", std::process::id()));
    mesh_files::write_vtk(&path, "torus", &filling.mesh, &pressure).unwrap();
    let read = mesh_files::read(&path, &Vector3::new(1.0, 1.0, 1.0)).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read, MeshData::Volume { mesh: filling.mesh, pressure: Some(pressure), ignored: Vec::new() });
}

/// A plate thinner than the hint is filled with a finer lattice, and its tetrahedra have pressure.
#[test]
fn a_thin_plate_is_refined() {
    let filling = filled(&cuboid(Vector3::new(0.05, 0.05, 0.002)), 0.02);
    assert!(filling.refinements > 0 && filling.spacing < 0.01, "{}", filling.spacing);
    assert!(filling.quality.volume_error.abs() < 0.15);
    check_mesh(&filling.mesh, &filling.depth, "plate");
}

/// A limit on the count is respected, and the message gives the remedy.
#[test]
fn too_many_tetrahedra_are_refused() {
    let settings = FillSettings { resolution_hint: Some(1e-4), tets_max: Some(5000), ..FillSettings::default() };
    let error = fill(&ball(0.05, 0.01), &settings).unwrap_err();
    assert!(matches!(error, FillError::TooMany { .. }));
    assert!(error.to_string().contains("larger resolution hint"), "{error}");
    let thin = FillSettings { resolution_hint: Some(0.02), tets_max: Some(500), ..FillSettings::default() };
    let error = fill(&cuboid(Vector3::new(0.05, 0.05, 0.0005)), &thin).unwrap_err();
    assert!(matches!(error, FillError::Thin { .. }), "{error}");
    let hint = FillSettings { resolution_hint: Some(f64::NAN), ..FillSettings::default() };
    assert!(matches!(fill(&ball(0.05, 0.02), &hint), Err(FillError::Hint { .. })));
}

/// Two intersecting boxes are one body: the volume is that of the union, and inner faces do not affect the
/// pressure.
#[test]
fn parts_that_go_through_each_other_are_united() {
    let half = Vector3::new(0.03, 0.03, 0.03);
    let mut surface = rotated(&cuboid(half), Vector3::new(0.2, 0.1, 0.3));
    let first = surface.vertices.len() as u32;
    let other = rotated(&cuboid(half), Vector3::new(0.2, 0.1, 0.3));
    let along = Rotation::new(Vector3::new(0.2, 0.1, 0.3)) * Vector3::new(0.02, 0.0, 0.0);
    // The second box is shifted along an edge, so that faces lie on each other as well.
    surface.vertices.extend(other.vertices.iter().map(|vertex| vertex + along));
    surface.triangles.extend(other.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    let filling = filled(&surface, 0.008);
    assert!(filling.surface.intersections > 0);
    let union = 0.08 * 0.06 * 0.06;
    let edges = 4.0 * (0.08 + 0.06 + 0.06);
    let error = (filling.quality.volume - union).abs();
    assert!(error < 0.5 * edges * filling.spacing.powi(2), "{error} of {union}");
    check_mesh(&filling.mesh, &filling.depth, "union");
    // The union is 6 cm thick: its deepest point is 3 cm inside, that of one box cut by the other's faces 2
    // cm.
    assert!(filling.deepest > 0.026, "{}", filling.deepest);
}

/// The program fills a file, prints the quality, and writes a file that the library reads. It refuses a
/// broken file and names the position of the defect.
#[test]
fn the_program_fills_a_file() {
    let folder = std::env::temp_dir().join(format!("isobar_mesh_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (given, out) = (folder.join("ell.obj"), folder.join("ell.vtk"));
    let write = |surface: &SurfaceMesh| {
        let points = surface.vertices.iter().map(|x| format!("v {:?} {:?} {:?}\n", x.x, x.y, x.z));
        let faces = surface.triangles.iter().map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1));
        std::fs::write(&given, points.chain(faces).collect::<String>()).unwrap();
    };
    let program = || {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        program.arg("mesh").arg(&given).args(["--modulus", "2e5", "--hint", "0.01", "--out"]).arg(&out);
        program.output().unwrap()
    };
    write(&ell());
    let output = program();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("dihedral angles") && text.contains("repairs"), "{text}");
    let MeshData::Volume { mesh, pressure, .. } = mesh_files::read(&out, &Vector3::new(1.0, 1.0, 1.0)).unwrap() else {
        panic!("tetrahedra")
    };
    let pressure = pressure.unwrap();
    check_mesh(&mesh, &pressure, "written");
    assert!((pressure.into_iter().fold(0.0, f64::max) - 2e5).abs() < 1e-9);
    let mut open = ell();
    open.triangles.pop();
    write(&open);
    let output = program();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("open") && text.contains("(0."), "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
}
