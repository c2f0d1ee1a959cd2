//! Meshes from other projects, filled or refused with the reason. `docs/results/meshes.md` gives their
//! sources; its table is the output of this test with `--nocapture`.

use std::time::Instant;

use isobar::geometry::fill::{FillSettings, fill};
use isobar::io::mesh_files::{self, MeshData};
use isobar::math::Vector3;

use crate::golden;

/// Links and hands: paths below the folder in ISOBAR_ROBOT_DATA (`share/example-robot-data` of the package).
const LINKS: [&str; 17] = [
    "robots/panda_description/meshes/collision/finger.stl",
    "robots/panda_description/meshes/collision/hand.stl",
    "robots/panda_description/meshes/collision/link5.stl",
    "robots/allegro_hand_description/meshes/base_link.STL",
    "robots/allegro_hand_description/meshes/link_3.0_tip.STL",
    "robots/allegro_hand_description/meshes/link_1.0.STL",
    "robots/talos_data/meshes/gripper/fingertip.STL",
    "robots/so_arm_description/meshes/so100/Moving_Jaw.stl",
    "robots/ur_description/meshes/ur5/collision/forearm.stl",
    "robots/ur_description/meshes/ur5/collision/wrist3.stl",
    "robots/tiago_description/meshes/hey5/palm.stl",
    "robots/human_description/meshes/hand_mesh.STL",
    "robots/solo_description/meshes/stl/with_foot/solo_foot.stl",
    "robots/alex_description/meshes/sake_finger_tip.obj",
    "robots/alex_description/meshes/idx-f1.obj",
    "robots/g1_description/meshes/right_hand_thumb_0_link.STL",
    "robots/cassie_description/meshes/foot.stl",
];

/// Household objects and parts: paths below the folder in ISOBAR_MESH_DATA (`pybullet_data`).
const OBJECTS: [&str; 20] = [
    "duck.obj",
    "bunny.obj",
    "objects/mug.obj",
    "objects/mug_col.obj",
    "torus/torus_textured.obj",
    "teddy2_VHACD_CHs.obj",
    "lego/lego.obj",
    "domino/domino.obj",
    "soccerball.obj",
    "stone.obj",
    "tray/tray_textured.obj",
    "toys/concave_box.obj",
    "toys/shape_sorter.obj",
    "terrain.obj",
    "l_finger.stl",
    "l_finger_tip.stl",
    "differential/diff_pinion.stl",
    "random_urdfs/000/000.obj",
    "random_urdfs/017/017.obj",
    "random_urdfs/123/123.obj",
];

#[test]
fn meshes_of_others_fill_or_are_refused_with_the_reason() {
    let (links, objects) = (golden::robots_of_others(), golden::objects_of_others());
    for (folder, files) in [(links, LINKS.as_slice()), (objects, OBJECTS.as_slice())] {
        let Some(folder) = folder else { continue };
        for file in files {
            let data = mesh_files::read(&folder.join(file), &Vector3::new(1.0, 1.0, 1.0)).unwrap();
            let MeshData::Surface(surface) = data else { panic!("{file} is a surface") };
            let start = Instant::now();
            let filled = fill(&surface, &FillSettings::default());
            let time = start.elapsed().as_secs_f64();
            let triangles = surface.triangles.len();
            match filled {
                Ok(filling) => {
                    super::check_mesh(&filling.mesh, &filling.depth, file);
                    assert!(filling.pressure(1e6).iter().all(|pressure| (0.0..=1e6).contains(pressure)), "{file}");
                    let quality = &filling.quality;
                    eprintln!(
                        "| {file} | {triangles} | {} | {:.1}-{:.1} | {:+.1} | {:.2} / {:.2} | {:.0} | {} |",
                        filling.mesh.tets.len(),
                        quality.dihedral_min.to_degrees(),
                        quality.dihedral_max.to_degrees(),
                        100.0 * quality.volume_error,
                        quality.surface_to_filling / filling.spacing,
                        quality.filling_to_surface / filling.spacing,
                        1e3 * time,
                        [
                            filling.surface.repairs(),
                            filling.left_out().map(|(at, _)| format!("thin part left out at {at}"))
                        ]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join("; "),
                    );
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    eprintln!("| {file} | {triangles} | refused | | | | {:.0} | {error} |", 1e3 * time);
                }
            }
        }
    }
}
