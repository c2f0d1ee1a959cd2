//! Bodies that a scene file describes itself, and copies of models.

use std::path::Path;

use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::math::{Matrix3, RigidTransform, Vector3};
use isobar::multibody::{Data, kinematics};

use crate::scene_file::chain;

fn load(text: &str) -> LoadedScene {
    let label = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/test.yaml");
    scene_file::load_str(text, &label, &PackageMap::new()).unwrap_or_else(|error| panic!("{text}\n{}", chain(&error)))
}

fn refusal(text: &str) -> String {
    let label = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/test.yaml");
    let Err(error) = scene_file::load_str(text, &label, &PackageMap::new()) else { panic!("accepted: {text}") };
    chain(&error)
}

/// Mass, centre of mass and central inertia of the only body.
fn inertia_of(shape: &str) -> (f64, Vector3, Matrix3) {
    let loaded = load(&format!("models:\n  - {{ name: it, {shape}, free: {{}} }}\n"));
    let body = loaded.scene.model().body("it").expect("the body");
    let inertia = &loaded.scene.model().bodies()[body].inertia;
    (inertia.mass, inertia.center_of_mass(), inertia.central())
}

/// Poses of the bodies at the start.
fn poses(loaded: &LoadedScene) -> Vec<(String, RigidTransform)> {
    let model = loaded.scene.model();
    let mut data = Data::new(model);
    kinematics(model, &loaded.initial, &mut data);
    loaded.models.iter().map(|model| (model.name.clone(), data.X_WB[model.root])).collect()
}

/// Oracle: the closed forms of solid bodies, m (b^2 + c^2)/12 of a box and m (b^2 + c^2)/5 of an ellipsoid;
/// for the capsule, a sum over a grid whose cells are a fortieth of the radius, which is exact to 1 %.
#[test]
fn bodies_of_a_scene_have_the_inertia_of_a_solid() {
    let close = |shape: &str, mass: f64, moments: [f64; 3], relative: f64| {
        let (found, centre, inertia) = inertia_of(shape);
        assert!((found - mass).abs() <= relative * mass && centre.norm() < 1e-15, "{shape}: {found} instead of {mass}");
        for (i, moment) in moments.iter().enumerate() {
            let error = (inertia[(i, i)] - moment).abs();
            assert!(error <= relative * moment, "{shape}: I_{i} is {} instead of {moment}", inertia[(i, i)]);
        }
    };
    close("'box': [0.1, 0.2, 0.3], mass: 2", 2.0, [2.0 * 0.13 / 12.0, 2.0 * 0.1 / 12.0, 2.0 * 0.05 / 12.0], 1e-12);
    close("sphere: 0.1, mass: 2", 2.0, [0.4 * 2.0 * 0.01; 3], 1e-12);
    let pi = std::f64::consts::PI;
    close("sphere: 0.1, density: 1000", 4.0 / 3.0 * pi, [0.4 * 4.0 / 3.0 * pi * 0.01; 3], 1e-12);
    let across = 2.0 * (3.0 * 0.01 + 0.16) / 12.0;
    close("cylinder: { radius: 0.1, length: 0.4 }, mass: 2", 2.0, [across, across, 0.01], 1e-12);
    close("ellipsoid: [0.1, 0.2, 0.3], mass: 2", 2.0, [0.4 * 0.13, 0.4 * 0.1, 0.4 * 0.05], 1e-12);
    let (mut volume, mut second) = (0.0, Vector3::zeros());
    let (radius, length) = (0.1, 0.2);
    let step = 0.0025;
    let middles = |reach: f64| {
        let count = (2.0 * reach / step).round() as i32;
        (0..count).map(move |i| -reach + step * (f64::from(i) + 0.5))
    };
    for x in middles(radius) {
        for y in middles(radius) {
            for z in middles(radius + length / 2.0) {
                let beyond = (z.abs() - length / 2.0).max(0.0);
                if x * x + y * y + beyond * beyond < radius * radius {
                    volume += step.powi(3);
                    second += Vector3::new(x * x, y * y, z * z) * step.powi(3);
                }
            }
        }
    }
    let moments = [second.y + second.z, second.x + second.z, second.x + second.y].map(|moment| 500.0 * moment);
    close("capsule: { radius: 0.1, length: 0.2 }, density: 500", 500.0 * volume, moments, 1e-2);
}

/// A mesh has the inertia of its solid about its own centre, at any position of the mesh in its file. Oracle:
/// the closed form of a box.
#[test]
fn a_mesh_of_a_scene_has_the_inertia_of_its_solid() {
    let folder = std::env::temp_dir().join(format!("isobar_scene_bodies_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let corner = |i: usize| format!("v {} {} {}\n", i & 1, 2 * (i >> 1 & 1), 3 * (i >> 2 & 1));
    let vertices: String = (0..8).map(corner).collect();
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    let file = folder.join("box.obj");
    std::fs::write(&file, vertices + faces).unwrap();
    for convex in [false, true] {
        let mesh =
            format!("mesh: {{ file: 'file://{}', scale: 0.1, convex: {convex} }}, density: 1000", file.display());
        let (mass, centre, inertia) = inertia_of(&mesh);
        assert!((mass - 6.0).abs() < 1e-12, "{mass}");
        assert!((centre - Vector3::new(0.05, 0.1, 0.15)).norm() < 1e-12, "{centre}");
        let exact = Matrix3::from_diagonal(&(Vector3::new(0.13, 0.1, 0.05) * (6.0 / 12.0)));
        assert!((inertia - exact).norm() < 1e-12, "{inertia}");
    }
    let open = folder.join("open.obj");
    std::fs::write(&open, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n").unwrap();
    let scene = format!("models:\n  - {{ name: it, mesh: '{}', mass: 1, free: {{}} }}\n", open.display());
    let message = refusal(&scene);
    assert!(message.contains("test.yaml:2:23: the mass of mesh") && message.contains("repair the mesh"), "{message}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A body has the name of its model, copies have numbers, and `material` applies to the body alone.
#[test]
fn copies_are_named_and_placed() {
    let loaded = load(
        "models:
  - { name: ball, sphere: 0.01, mass: 0.1, free: { xyz: [0, 0, 1] }, grid: { count: [2, 1, 3], spacing: [0.1, 0, 0.2] } }
  - { name: post, box: [0.1, 0.1, 1], weld: {}, at: [[1, 0, 0], { xyz: [2, 0, 0], rpy: [0, 0, 0.5] }], material: { mu_dynamic: 0.1 } }
  - { name: hand, urdf: ../urdf/wsg50_bubble_gripper.urdf, weld: { rpy: [0, 0, 1] }, at: [[0, 3, 0], [0, 4, 0]] }
outputs:
  height: { position: { body: ball_6, axis: z } }
  grip: { joint_effort: { joint: hand_2_left_finger_sliding_joint } }
",
    );
    let names: Vec<&str> = loaded.models.iter().map(|model| model.name.as_str()).collect();
    let balls = ["ball_1", "ball_2", "ball_3", "ball_4", "ball_5", "ball_6"];
    assert_eq!(names, [&balls[..], &["post_1", "post_2", "hand_1", "hand_2"]].concat());
    let poses = poses(&loaded);
    for (i, (_, pose)) in poses[..6].iter().enumerate() {
        let expected = Vector3::new(0.1 * (i % 2) as f64, 0.0, 1.0 + 0.2 * (i / 2) as f64);
        assert!((pose.translation.vector - expected).norm() < 1e-15, "{i}: {pose}");
    }
    assert!((poses[7].1.rotation.angle() - 0.5).abs() < 1e-12 && poses[7].1.translation.x == 2.0, "{:?}", poses[7]);
    assert!((poses[9].1.rotation.angle() - 1.0).abs() < 1e-12 && poses[9].1.translation.y == 4.0, "{:?}", poses[9]);
    let frictions: Vec<f64> = loaded.scene.geometries().iter().map(|geometry| geometry.material.friction).collect();
    assert_eq!(frictions[..8], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.1]);
}

/// Random poses are the same in every run, keep the bounding spheres apart and within the box, and differ
/// with the seed.
#[test]
fn random_poses_do_not_overlap() {
    let scene = |seed: u64| {
        load(&format!(
            "models:
  - {{ name: brick, box: [0.02, 0.03, 0.04], mass: 0.1, free: {{}}, count: 30, random: {{ within: [[-0.1, -0.1, 0], [0.1, 0.1, 0.5]], seed: {seed} }} }}
  - {{ name: ball, sphere: 0.02, mass: 0.1, free: {{}}, count: 10, random: {{ within: [[-0.1, -0.1, 0], [0.1, 0.1, 0.5]], seed: {seed} }} }}
"
        ))
    };
    let (first, again, other) = (poses(&scene(1)), poses(&scene(1)), poses(&scene(2)));
    assert_eq!(first, again);
    assert!(first.iter().zip(&other).all(|(a, b)| a.1 != b.1));
    let brick = 0.5 * Vector3::new(0.02, 0.03, 0.04).norm();
    let radius = |i: usize| if i < 30 { brick } else { 0.02 };
    for (i, (name, pose)) in first.iter().enumerate() {
        let p = pose.translation.vector;
        assert!(p.xy().amax() <= 0.1 - radius(i) && p.z >= radius(i) && p.z <= 0.5 - radius(i), "{name}: {p}");
        for (j, (_, before)) in first[..i].iter().enumerate() {
            assert!((p - before.translation.vector).norm() > radius(i) + radius(j), "{i}, {j}");
        }
    }
}

/// Faults of bodies and copies name their place and the way out.
#[test]
fn faults_of_bodies_and_copies_are_refused_with_place_and_way_out() {
    for (marked, way_out) in [
        ("§name: a, sphere: 0.1, free: {}", "`mass` or `density`"),
        ("name: a, sphere: §-0.1, mass: 1, free: {}", "more than 0"),
        ("name: a, sphere: §{ radius: 0.1 }, mass: 1, free: {}", "a number"),
        ("name: a, box: [1, 1, 1], §sphere: 0.1, mass: 1, free: {}", "keep one of them"),
        ("name: a, sphere: 0.1, mass: 1, §density: 1000, free: {}", "keep one of them"),
        ("name: a, cylinder: §{ radius: 0.1 }, mass: 1, free: {}", "length: 0.1"),
        ("name: a, box: §[1, 1], mass: 1, free: {}", "three numbers"),
        ("name: a, mesh: §gone.obj, mass: 1, free: {}", "is not found"),
        ("name: a, urdf: ../urdf/spatula.urdf, §mass: 1, free: {}", "add `box`"),
        ("name: a, urdf: ../urdf/spatula.urdf, §group_state: home, free: {}", "srdf: arm.srdf"),
        ("§name: a, free: {}", "or a shape"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, §count: 3", "add `random:"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, at: §[]", "between 1 and 2500"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, at: [§[0, 0]]", "three numbers"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, at: [[0, 0, 0]], §count: 2", "remove `count`"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, at: [[0, 0, 0]], §grid: {}", "keep one of them"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, grid: { count: [§1.5, 1, 1], spacing: [0, 0, 0] }", "whole number"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, grid: { count: §[100, 100, 1], spacing: [0, 0, 0] }", "1000"),
        ("name: a, sphere: 0.1, weld: {}, §random: { within: [[0, 0, 0], [1, 1, 1]] }", "free models"),
        (
            "name: a, sphere: 0.1, mass: 1, §free: { xyz: [1, 0, 0] }, random: { within: [[0, 0, 0], [1, 1, 1]] }",
            "remove the `xyz`",
        ),
        ("name: a, sphere: 0.1, mass: 1, free: {}, random: §{ within: [[0, 0, 0], [1, 1, 0.1]] }", "widen `within`"),
        (
            "name: a, sphere: 0.1, mass: 1, free: {}, count: 200, random: §{ within: [[0, 0, 0], [1, 1, 1]] }",
            "lower `count`",
        ),
        ("name: a, sphere: 0.1, mass: 1, free: {}, random: { within: §[[0, 0, 0]] }", "two opposite corners"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, material: { §friction: 1 }", "`mu_dynamic`"),
        ("name: a, sphere: 0.1, mass: 1, free: {}, color: [0, §3, 0]", "between 0 and 1"),
    ] {
        let scene = format!("models:\n  - {{ {} }}\n", marked.replace('§', ""));
        let before = &marked[..marked.find('§').expect("a mark")];
        // A fault of the whole model is at its opening brace.
        let column = if before.is_empty() { 5 } else { 7 + before.chars().count() };
        let message = refusal(&scene);
        assert!(message.contains(&format!("test.yaml:2:{column}: ")), "{marked}\n{message}");
        assert!(message.contains(way_out), "{marked}\n{message}");
    }
}

/// Links of one robot that overlap are named in one line with their number, and pass through each other by
/// default; links whose compliance the file states only with `ignore_all`.
#[test]
fn overlapping_links_are_one_line() {
    let folder = std::env::temp_dir().join(format!("isobar_overlap_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let link = |name: &str, rigid: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>
<collision><geometry><box size='0.1 0.1 0.1'/></geometry><drake:proximity_properties>{rigid}</drake:proximity_properties></collision></link>"
        )
    };
    let joint = |i: usize| {
        format!(
            "<joint name='j{i}' type='continuous'><parent link='l{i}'/><child link='l{}'/><origin xyz='0.01 0.02 0.03'/></joint>",
            i + 1
        )
    };
    let (rigid, soft) = ("<drake:rigid_hydroelastic/>", "<drake:compliant_hydroelastic/>");
    for (properties, choice, lines, pairs_left) in [
        (rigid, "ignore", 1, 1),
        (rigid, "keep", 1, 6),
        ("", "ignore", 1, 1),
        ("", "keep", 1, 6),
        (soft, "ignore", 1, 6),
        (soft, "ignore_all", 1, 1),
    ] {
        let links: String = (0..5).map(|i| link(&format!("l{i}"), properties)).collect();
        let joints: String = (0..4).map(joint).collect();
        let urdf = format!("<robot name='chain' xmlns:drake='https://drake.mit.edu'>{links}{joints}</robot>");
        std::fs::write(folder.join("chain.urdf"), urdf).unwrap();
        let scene = format!(
            "contact: {{ overlapping_links: {choice} }}\nmodels: [{{ name: chain, urdf: chain.urdf, free: {{}} }}]\n"
        );
        let loaded = scene_file::load_str(&scene, &folder.join("scene.yaml"), &PackageMap::new()).unwrap();
        let said: Vec<_> = loaded.warnings.iter().filter(|warning| warning.contains("at the start")).collect();
        assert_eq!(said.len(), lines, "{choice}: {said:?}");
        assert!(said[0].contains("scene.yaml:2:10: model `chain`") && said[0].contains("5 pairs"), "{said:?}");
        assert!(said[0].contains(" and 2 more") && said[0].contains("no_contact"), "{said:?}");
        // Neighbours never touch: 10 pairs of links less 4. The ends of the chain do not overlap.
        assert_eq!(loaded.scene.contact_pairs().len(), pairs_left, "{choice}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
