//! Contact surfaces against an independent program (tests/golden/contact_surfaces/README.md).

use std::path::PathBuf;

use isobar::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticGeometry, HydroelasticWorkspace, SurfaceMesh, VolumeMesh,
    contact_surface,
};
use isobar::math::{RigidTransform, Rotation, SpatialForce, Vector3};
use serde_json::Value;

/// Relative difference that two programs with 16 digits may show after a few thousand operations on cancelling terms.
const TOLERANCE_GIVEN: f64 = 1e-10;
/// The same with a tessellation of our own, whose vertices differ in the last digits.
const TOLERANCE_OWN: f64 = 1e-9;
/// A torque about the world's origin is compared with the greater of itself and its force at this arm [m]: at the origin
/// of a symmetrical contact it is zero but for rounding.
const TORQUE_ARM: f64 = 1e-2;
/// Both normal gradients of a face that a discrete step keeps lie above this [Pa/m].
const GRADIENT_MIN: f64 = 1e-14;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn vector(value: &Value) -> Vector3 {
    Vector3::from_column_slice(&numbers(value))
}

fn vectors(value: &Value) -> Vec<Vector3> {
    value.as_array().unwrap().iter().map(vector).collect()
}

fn elements<const N: usize>(value: &Value) -> Vec<[u32; N]> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|element| std::array::from_fn(|i| u32::try_from(element[i].as_u64().unwrap()).unwrap()))
        .collect()
}

fn pose(geometry: &Value) -> RigidTransform {
    let q = numbers(&geometry["q_wxyz"]);
    let rotation: Rotation =
        nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]))
            .to_rotation_matrix();
    RigidTransform::from_parts(vector(&geometry["p"]).into(), rotation)
}

fn is_compliant(geometry: &Value) -> bool {
    geometry["compliance"] == "compliant"
}

fn half_space(geometry: &Value) -> HydroelasticGeometry {
    if is_compliant(geometry) {
        let stiffness = number(&geometry["E"]) / number(&geometry["slab_thickness"]);
        HydroelasticGeometry::CompliantHalfSpace { stiffness }
    } else {
        HydroelasticGeometry::RigidHalfSpace
    }
}

fn given(geometry: &Value, mesh: &Value) -> HydroelasticGeometry {
    match mesh["kind"].as_str().unwrap() {
        "volume" => HydroelasticGeometry::from_volume(
            VolumeMesh { vertices: vectors(&mesh["vertices"]), tets: elements(&mesh["tets"]) },
            numbers(&mesh["pressure"]),
        )
        .unwrap(),
        "surface" => HydroelasticGeometry::from_surface(SurfaceMesh {
            vertices: vectors(&mesh["vertices"]),
            triangles: elements(&mesh["triangles"]),
        })
        .unwrap(),
        _ => half_space(geometry),
    }
}

/// Sums over a surface: those of all faces, and those of the faces that a discrete step keeps.
struct Totals {
    area: f64,
    force: SpatialForce,
    force_kept: SpatialForce,
    stiffness: f64,
}

fn totals(surface: &ContactSurface) -> Totals {
    let mut totals = Totals {
        area: surface.total_area(),
        force: SpatialForce::ZERO,
        force_kept: SpatialForce::ZERO,
        stiffness: 0.0,
    };
    for face in 0..surface.len() {
        let f = surface.normal[face] * (surface.pressure[face] * surface.area[face]);
        let force = SpatialForce::new(surface.centroid[face].cross(&f), f);
        totals.force += force;
        if surface.g_A[face] > GRADIENT_MIN && surface.g_B[face] > GRADIENT_MIN {
            totals.force_kept += force;
            totals.stiffness += surface.gradient(face) * surface.area[face];
        }
    }
    totals
}

/// Largest relative difference of `ours` from the totals of the file.
fn worst(ours: &Totals, expected: &Value, sign: f64) -> f64 {
    let scalar =
        |ours: f64, key: &str| (ours - number(&expected[key])).abs() / number(&expected[key]).abs().max(1e-300);
    let wrench = |ours: &SpatialForce, force: &str, torque: &str| {
        let (f, tau) = (vector(&expected[force]), vector(&expected[torque]));
        let arm = f.norm() * TORQUE_ARM;
        ((ours.f * sign - f).norm() / f.norm()).max((ours.tau * sign - tau).norm() / tau.norm().max(arm))
    };
    scalar(ours.area, "area")
        .max(wrench(&ours.force, "force", "torque_W"))
        .max(wrench(&ours.force_kept, "force_solver", "torque_solver_W"))
        .max(scalar(ours.stiffness, "stiffness"))
}

/// Largest relative difference of one face, after pairing each face of the file with the nearest unused one of ours.
/// Small faces are rounded worse, so differences of area and place count against the whole surface's size.
fn worst_face(surface: &ContactSurface, expected: &[Value], sign: f64) -> f64 {
    let area = surface.total_area();
    let size = area.sqrt();
    let p_max = surface.pressure.iter().copied().fold(0.0, f64::max);
    let mut unused: Vec<usize> = (0..surface.len()).collect();
    let mut worst: f64 = 0.0;
    for face in expected {
        let (centroid, normal) = (vector(&face["centroid"]), vector(&face["normal"]) * sign);
        let distance = |i: usize| {
            ((surface.centroid[i] - centroid).norm() / size)
                .max((surface.area[i] - number(&face["area"])).abs() / area)
                .max((surface.normal[i] - normal).norm())
                .max((surface.pressure[i] - number(&face["p"])).abs() / p_max)
        };
        let Some(best) = (0..unused.len()).min_by(|a, b| distance(unused[*a]).total_cmp(&distance(unused[*b]))) else {
            return f64::INFINITY;
        };
        worst = worst.max(distance(unused.swap_remove(best)));
    }
    worst
}

fn configurations() -> Vec<Value> {
    let folder = std::env::var_os("ISOBAR_ORACLE")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), PathBuf::from);
    let path = folder.join("contact_surfaces/contact_surfaces.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["configs"].as_array_mut().unwrap().drain(..).collect()
}

/// +1 where the file's 'first', on which its force acts and into which its normals point, is B; -1 where it is A.
fn sign_of_first(config: &Value) -> f64 {
    let first_is_A = match (is_compliant(&config["A"]), is_compliant(&config["B"])) {
        (true, false) => true,
        (false, true) => false,
        _ => config["M_is"] == "A",
    };
    if first_is_A { -1.0 } else { 1.0 }
}

fn query(
    config: &Value,
    A: &HydroelasticGeometry,
    B: &HydroelasticGeometry,
    representation: FaceRepresentation,
) -> ContactSurface {
    let mut surface = ContactSurface::new();
    let mut workspace = HydroelasticWorkspace::new(representation);
    contact_surface(A, &pose(&config["A"]), B, &pose(&config["B"]), &mut workspace, &mut surface).unwrap();
    surface
}

/// Runs one comparison over all configurations, prints a line for each, and fails with the names of those that differ.
fn compare(title: &str, tolerance: f64, build: impl Fn(&Value, &str) -> HydroelasticGeometry) {
    let mut failed = Vec::new();
    for config in configurations() {
        let name = config["name"].as_str().unwrap().to_owned();
        let (A, B) = (build(&config, "A"), build(&config, "B"));
        let surface = query(&config, &A, &B, FaceRepresentation::Polygon);
        let fan = query(&config, &A, &B, FaceRepresentation::TriangleFan);
        let sign = sign_of_first(&config);
        let error = worst(&totals(&surface), &config["drake"], sign);
        // the polygons of a fan cover the same faces
        let fan_error = (fan.total_area() - surface.total_area()).abs() / surface.total_area();
        let listed = config["faces"].as_array().map(|faces| worst_face(&surface, faces, sign));
        let expected = number(&config["drake"]["num_faces"]) as usize;
        let fan_expected = config["triangle_faces"].as_u64().map_or(fan.len(), |count| count as usize);
        println!(
            "{title} {name:26} faces {:4} of {expected:4} fan {:4} of {fan_expected:4} worst {error:.1e} face {:.1e}",
            surface.len(),
            fan.len(),
            listed.unwrap_or(0.0),
        );
        let same = surface.len() == expected
            && error <= tolerance
            && fan_error <= tolerance
            && listed.is_none_or(|worst| worst <= FACE_TOLERANCE);
        if !same {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{title}: {failed:?} differ");
}

/// A face may be a thin sliver between two nearly parallel planes, whose corners move along it by the rounding of the
/// planes over the sine of their angle; the totals, where slivers weigh by their area, are compared more sharply.
const FACE_TOLERANCE: f64 = 1e-7;

/// Given the same meshes, pressures and poses: the same faces, area, force, torque and stiffness.
#[test]
fn given_meshes_agree() {
    compare("given", TOLERANCE_GIVEN, |config, side| given(&config[side], &config["meshes"][side]));
}
