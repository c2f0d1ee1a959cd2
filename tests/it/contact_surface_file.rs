//! Reads tests/golden/contact_surfaces/contact_surfaces.json and files of its layout.
#![allow(missing_docs, dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use isobar::geometry::{HydroelasticGeometry, SurfaceMesh, VolumeMesh};
use isobar::math::{RigidTransform, Rotation, Vector3};
use serde_json::Value;

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

pub fn vector(value: &Value) -> Vector3 {
    Vector3::from_column_slice(&numbers(value))
}

pub fn vectors(value: &Value) -> Vec<Vector3> {
    value.as_array().unwrap().iter().map(vector).collect()
}

pub fn elements<const N: usize>(value: &Value) -> Vec<[u32; N]> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|element| std::array::from_fn(|i| u32::try_from(element[i].as_u64().unwrap()).unwrap()))
        .collect()
}

pub fn pose(geometry: &Value) -> RigidTransform {
    let q = numbers(&geometry["q_wxyz"]);
    let rotation: Rotation =
        nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]))
            .to_rotation_matrix();
    RigidTransform::from_parts(vector(&geometry["p"]).into(), rotation)
}

pub fn is_compliant(geometry: &Value) -> bool {
    geometry["compliance"] == "compliant"
}

pub fn half_space(geometry: &Value) -> HydroelasticGeometry {
    if is_compliant(geometry) {
        let stiffness = number(&geometry["E"]) / number(&geometry["slab_thickness"]);
        HydroelasticGeometry::CompliantHalfSpace { stiffness, margin: geometry["margin"].as_f64().unwrap_or(0.0) }
    } else {
        HydroelasticGeometry::RigidHalfSpace
    }
}

pub fn given(geometry: &Value, mesh: &Value) -> HydroelasticGeometry {
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
