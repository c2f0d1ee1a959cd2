//! Contact surfaces against an independent program (tests/golden/contact_surfaces/README.md).

use std::sync::Arc;

use isobar::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape,
    SurfaceMesh, contact_surface,
};
use isobar::math::SpatialForce;
use serde_json::Value;

use crate::contact_surface_file::{given, is_compliant, number, pose, vector, vectors};
use crate::golden;

/// The relative difference that two programs with 16 digits may have after a few thousand operations on
/// cancelling terms.
const TOLERANCE_GIVEN: f64 = 1e-10;
/// The same with our own tessellation, whose vertices differ in the last digits.
const TOLERANCE_OWN: f64 = 1e-9;
/// A torque about the world's origin is compared with the greater of itself and its force at this arm [m]: at
/// the origin of a symmetrical contact it is zero but for rounding.
const TORQUE_ARM: f64 = 1e-2;
/// A slope below this share of the gradient is rounding: the pressure is constant across the face, and
/// rounding decides whether a program keeps it (though both mostly agree in poses along the axes).
const SLOPE_ROUNDING: f64 = 1e-12;
/// The same for our faces, as a share of p_max / sqrt(area), since they do not keep their gradients.
const OUR_SLOPE_ROUNDING: f64 = 1e-10;

/// A stiffness is compared with the greater of itself and this share of p_max sqrt(area), which is the
/// typical stiffness of a surface of that size and pressure.
const STIFFNESS_SHARE: f64 = 1e-3;

/// Sums over a surface: those of all faces, and those of the faces that a discrete step keeps with any
/// rounding.
struct Totals {
    area: f64,
    force: SpatialForce,
    force_kept: SpatialForce,
    stiffness: f64,
}

fn totals(surface: &ContactSurface) -> Totals {
    let p_max = surface.pressure.iter().copied().map(f64::abs).fold(0.0, f64::max);
    let rounding = OUR_SLOPE_ROUNDING * p_max / surface.total_area().sqrt();
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
        if surface.g_A[face] > rounding && surface.g_B[face] > rounding {
            totals.force_kept += force;
            totals.stiffness += surface.gradient(face) * surface.area[face];
        }
    }
    totals
}

/// The wrench of the faces in the file whose slope is rounding; our sums leave them out.
fn kept_by_chance(faces: &[Value]) -> SpatialForce {
    let mut total = SpatialForce::ZERO;
    for face in faces {
        let normal = vector(&face["normal"]);
        let slopes = [(&face["grad_first"], 1.0), (&face["grad_second"], -1.0)]
            .iter()
            .filter(|(gradient, _)| gradient.is_array())
            .map(|(gradient, sign)| (vector(gradient).dot(&normal) * sign, vector(gradient).norm()))
            .collect::<Vec<_>>();
        let kept = slopes.iter().all(|(slope, _)| *slope > 1e-14);
        if kept && slopes.iter().any(|(slope, steepest)| *slope <= SLOPE_ROUNDING * steepest) {
            let f = normal * (number(&face["p"]) * number(&face["area"]));
            total += SpatialForce::new(vector(&face["centroid"]).cross(&f), f);
        }
    }
    total
}

/// Largest relative difference of `ours` from the totals of the file. The force of the kept faces is left out
/// if the file lists no faces (`by_chance` is `None`), because its sums may include faces by rounding.
fn worst(ours: &Totals, expected: &Value, sign: f64, by_chance: Option<SpatialForce>, stiffness_share: f64) -> f64 {
    let scalar =
        |ours: f64, key: &str| (ours - number(&expected[key])).abs() / number(&expected[key]).abs().max(1e-300);
    let wrench = |ours: &SpatialForce, force: &str, torque: &str| {
        let (f, tau) = (vector(&expected[force]), vector(&expected[torque]));
        let arm = f.norm() * TORQUE_ARM;
        ((ours.f - f).norm() / f.norm()).max((ours.tau - tau).norm() / tau.norm().max(arm))
    };
    let kept =
        by_chance.map_or(0.0, |extra| wrench(&(ours.force_kept * sign + extra), "force_solver", "torque_solver_W"));
    // If all kept faces are kept by rounding, their stiffness is rounding.
    let stiff = stiffness_share * number(&expected["p_max"]) * number(&expected["area"]).sqrt();
    let expected_stiffness = number(&expected["stiffness"]);
    let stiffness = (ours.stiffness - expected_stiffness).abs() / expected_stiffness.abs().max(stiff);
    scalar(ours.area, "area").max(wrench(&(ours.force * sign), "force", "torque_W")).max(kept).max(stiffness)
}

/// Largest relative difference of one face, after pairing each face of the file with the nearest unused one
/// of ours. Small faces are rounded worse, so differences of area and position count against the whole
/// surface's size.
fn worst_face(surface: &ContactSurface, expected: &[Value], sign: f64) -> f64 {
    let area = surface.total_area();
    let size = area.sqrt();
    let p_max = surface.pressure.iter().copied().map(f64::abs).fold(0.0, f64::max);
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

/// The configurations of all files of the folder.
fn configurations() -> Vec<Value> {
    golden::folder("contact_surfaces").iter().flat_map(|file| file["configs"].as_array().unwrap().clone()).collect()
}

/// The sign of the file's directions: +1 if its 'first', on which its force acts and into which its normals
/// point, is B; -1 if it is A.
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

/// Runs one comparison over all configurations, prints a line for each, and fails with the names of those
/// that differ.
fn compare(
    title: &str,
    tolerance: f64,
    stiffness_share: f64,
    configurations: impl Iterator<Item = Value>,
    build: impl Fn(&Value, &str) -> HydroelasticGeometry,
) {
    let mut failed = Vec::new();
    for config in configurations {
        let name = config["name"].as_str().unwrap().to_owned();
        let (A, B) = (build(&config, "A"), build(&config, "B"));
        let surface = query(&config, &A, &B, FaceRepresentation::Polygon);
        let fan = query(&config, &A, &B, FaceRepresentation::TriangleFan);
        let sign = sign_of_first(&config);
        let faces = config["faces"].as_array();
        let error =
            worst(&totals(&surface), &config["drake"], sign, faces.map(|faces| kept_by_chance(faces)), stiffness_share);
        // The polygons of a fan cover the same faces.
        let fan_error = (fan.total_area() - surface.total_area()).abs() / surface.total_area();
        let listed = faces.map(|faces| worst_face(&surface, faces, sign));
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
            && listed.is_none_or(|worst| worst <= tolerance);
        if !same {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{title}: {failed:?} differ");
}

/// Given the same meshes, pressures and poses: the same faces, area, force, torque and stiffness.
#[test]
fn given_meshes_agree() {
    let with_meshes = configurations().into_iter().filter(|config| config["meshes"].is_object());
    compare("given", TOLERANCE_GIVEN, 0.0, with_meshes, |config, side| given(&config[side], &config["meshes"][side]));
}

/// The geometry that the file describes by type and sizes, tessellated here. A mesh that the description only
/// names is taken from the file: the points of a convex hull, or a whole volume mesh.
fn own(geometry: &Value, mesh: &Value) -> HydroelasticGeometry {
    let size = |key: &str| number(&geometry[key]);
    let kind = geometry["type"].as_str().unwrap();
    let shape = match kind {
        "sphere" => Shape::Sphere { radius: size("radius") },
        "ellipsoid" => Shape::Ellipsoid { semi_axes: vector(&geometry["abc"]) },
        "box" => Shape::Box { size: vector(&geometry["size"]) },
        "cylinder" => Shape::Cylinder { radius: size("radius"), length: size("length") },
        "capsule" => Shape::Capsule { radius: size("radius"), length: size("length") },
        "half_space" => Shape::HalfSpace,
        "convex" => {
            let vertices = vectors(&mesh["vertices"]);
            Shape::Convex(Arc::new(SurfaceMesh { vertices, triangles: Vec::new() }))
        }
        _ => return given(geometry, mesh),
    };
    let parameters = HydroelasticParameters {
        compliant: is_compliant(geometry).then(|| size("E")),
        // Drake tessellates boxes and convex meshes without it
        resolution_hint: geometry["hint"].as_f64().filter(|_| !["box", "convex"].contains(&kind)),
        slab_thickness: geometry["slab_thickness"].as_f64(),
        margin: geometry["margin"].as_f64().unwrap_or(0.0),
        ..HydroelasticParameters::default()
    };
    HydroelasticGeometry::new(&shape, &parameters).unwrap()
}

/// From sizes and hints alone: our tessellations follow the same rules, so the surfaces are the same.
#[test]
fn own_tessellations_agree() {
    compare("own", TOLERANCE_OWN, STIFFNESS_SHARE, configurations().into_iter(), |config, side| {
        own(&config[side], &config["meshes"][side])
    });
}
