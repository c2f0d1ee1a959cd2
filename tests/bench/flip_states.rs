//! Contact faces along the pancake flip: states of a run with polygons, and the results of our contact
//! queries at each of them.
//!
//! `cargo bench --bench flip_states` prints the mean faces of each pair; with `-- --json`, one JSON object a
//! line for tests/bench/drake_polygons.py: first the geometries, with the surfaces of the rigid ones, then
//! the states. `--refinement=2` halves the edges, `--every=25` takes every 25th step.
//!
//! A state is the start of a step of the run. `run_faces` is the number of faces that the solver had in that
//! step, points between rigid bodies among them. `found` counts the faces of the contact surfaces, and `kept`
//! those whose pressure rises when the bodies approach, which become springs. Positions, poses and
//! `velocities` are those at the start of the step, `next` has the velocities at its end, and `efforts` has
//! the efforts of the actuators in between. The run is the same every time: same input, same bits.
#![allow(non_snake_case, missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use isobar::contact::GRADIENT_MIN;
use isobar::experiments::keyframes::Task;
use isobar::experiments::pancake_flip::Flip;
use isobar::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticGeometry, HydroelasticWorkspace, contact_surface,
};
use isobar::io::{package::PackageMap, scene_file};
use isobar::math::{BodyIndex, IndexVec, RigidTransform, SpatialVelocity};
use isobar::scene::{CollisionGeometry, ContactKind, Scene};
use isobar::stepping::Snapshot;
use nalgebra::UnitQuaternion;
use serde_json::{Value, json};

const KINDS: [(&str, FaceRepresentation); 2] =
    [("polygons", FaceRepresentation::Polygon), ("triangles", FaceRepresentation::TriangleFan)];

/// Faces of one pair with one representation.
#[derive(Clone, Copy, Default)]
struct Count {
    found: usize,
    kept: usize,
}

/// The number behind `--name=`, or `otherwise`.
fn option(name: &str, otherwise: f64) -> f64 {
    let prefix = format!("--{name}=");
    std::env::args().find_map(|argument| argument.strip_prefix(&prefix)?.parse().ok()).unwrap_or(otherwise)
}

/// Vertices of every geometry, and triangles of the rigid ones, in the geometry's frame [m].
fn geometries(scene: &Scene) -> Value {
    let one = |geometry: &CollisionGeometry| {
        let triangles = match &geometry.hydroelastic {
            HydroelasticGeometry::RigidSurface(surface) => Some(&surface.mesh().triangles),
            _ => None,
        };
        let vertices: Vec<[f64; 3]> = geometry.hydroelastic.vertices().iter().map(|p| [p.x, p.y, p.z]).collect();
        (geometry.name.clone(), json!({ "vertices": vertices, "triangles": triangles }))
    };
    Value::Object(scene.geometries().iter().map(one).collect())
}

/// Quaternion (w, x, y, z) and position [m].
fn pose(X: &RigidTransform) -> [f64; 7] {
    let (r, p) = (UnitQuaternion::from_rotation_matrix(&X.rotation), X.translation.vector);
    [r.w, r.i, r.j, r.k, p.x, p.y, p.z]
}

/// Faces of all pairs with a pressure field that touch.
fn count(
    scene: &Scene,
    X_WB: &IndexVec<BodyIndex, RigidTransform>,
    faces: FaceRepresentation,
) -> BTreeMap<String, Count> {
    let mut counts = BTreeMap::new();
    let mut surface = ContactSurface::new();
    for pair in scene.contact_pairs().iter().filter(|pair| pair.kind == ContactKind::PressureField) {
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let mut workspace = HydroelasticWorkspace::default();
        workspace.representation = faces;
        let (X_WA, X_WG) = (X_WB[a.body] * a.X_BG, X_WB[b.body] * b.X_BG);
        contact_surface(&a.hydroelastic, &X_WA, &b.hydroelastic, &X_WG, &mut workspace, &mut surface).unwrap();
        let rises = |i: &usize| surface.g_A[*i] > GRADIENT_MIN && surface.g_B[*i] > GRADIENT_MIN;
        let kept = (0..surface.len()).filter(rises).count();
        if !surface.is_empty() {
            let mut ends = [pair.A, pair.B].map(|geometry| scene.geometry_name(geometry));
            ends.sort_unstable();
            counts.insert(ends.join(" - "), Count { found: surface.len(), kept });
        }
    }
    counts
}

/// Velocities of the joints [rad/s, m/s] and of all bodies about their origins, (w; v) in world axes.
fn velocities(scene: &Scene, snapshot: &Snapshot) -> Value {
    let joints: BTreeMap<_, _> = scene.joint_names().iter().zip(&snapshot.joint_velocity).collect();
    let spatial = |V: &SpatialVelocity| [V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z];
    let bodies: BTreeMap<_, _> =
        scene.model().bodies().iter().zip(snapshot.V_WB.iter()).map(|(body, V)| (&body.name, spatial(V))).collect();
    json!({ "joints": joints, "bodies": bodies })
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let (refinement, every) = (option("refinement", 1.0), option("every", 25.0) as u64);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = PackageMap::from_environment();
    let loaded = scene_file::load_refined(&root.join("config/pancake_flip.yaml"), &packages, refinement).unwrap();
    let task = Task::read(&root.join("config/tasks/pancake_flip.yaml")).unwrap();
    let mut flip = Flip::new(&loaded, task.clone()).unwrap();
    let scene = loaded.scene.clone();
    if json {
        println!("{}", json!({ "geometries": geometries(&scene), "keyframes": task.keyframes.len() }));
    }
    let mut sums: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    let (mut states, mut steps, mut run_sum) = (0, 0u64, 0u64);
    let [mut before, mut after] = [Snapshot::default(), Snapshot::default()];
    while !flip.done() {
        flip.simulation().snapshot_into(&mut before);
        let sample = flip.step(&|| 0.0).unwrap();
        run_sum += u64::from(sample.faces);
        steps += 1;
        if (steps - 1) % every != 0 {
            continue;
        }
        states += 1;
        let counts = KINDS.map(|(_, faces)| count(&scene, &before.X_WB, faces));
        for (k, pairs) in counts.iter().enumerate() {
            for (name, pair) in pairs {
                let sum = sums.entry(name.clone()).or_default();
                sum[2 * k] += pair.found;
                sum[2 * k + 1] += pair.kept;
            }
        }
        if json {
            flip.simulation().snapshot_into(&mut after);
            let names = scene.joint_names();
            let positions: BTreeMap<_, _> = names.iter().zip(&before.joint_position).collect();
            let efforts: BTreeMap<_, _> = names.iter().zip(&after.joint_effort).collect();
            let bodies = scene.model().bodies().iter().zip(before.X_WB.iter());
            let poses: BTreeMap<_, _> = bodies.map(|(body, X)| (&body.name, pose(X))).collect();
            let side = |k: usize| -> BTreeMap<&String, [usize; 2]> {
                counts[k].iter().map(|(name, pair)| (name, [pair.found, pair.kept])).collect()
            };
            let keyframe = task.keyframes.get(sample.keyframe).map_or("", |keyframe| keyframe.name.as_str());
            let [polygons, triangles] = [side(0), side(1)];
            println!(
                "{}",
                json!({ "time": before.time_ns as f64 * 1e-9, "keyframe": keyframe, "joints": positions, "poses": poses,
                        "velocities": velocities(&scene, &before), "efforts": efforts, "next": velocities(&scene, &after),
                        "run_faces": sample.faces, "polygons": polygons, "triangles": triangles })
            );
        }
    }
    if json {
        println!("{}", json!({ "steps": steps, "run_faces": run_sum as f64 / steps as f64 }));
        return;
    }
    println!("{states} states of {steps} steps; {:.1} faces a step in the run", run_sum as f64 / steps as f64);
    println!("{:72}{:>10}{:>8}{:>10}{:>8}{:>8}", "mean faces", "polygons", "kept", "triangles", "kept", "ratio");
    for (name, sum) in &sums {
        let mean = sum.map(|sum| sum as f64 / f64::from(states));
        let ratio = mean[2] / mean[0];
        println!("{name:72}{:10.2}{:8.2}{:10.2}{:8.2}{ratio:8.3}", mean[0], mean[1], mean[2], mean[3]);
    }
}
