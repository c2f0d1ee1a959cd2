//! The cube stacking of the paper with its steps: the cube stands on the stack in the end.

use std::path::Path;

use isobar::experiments::cube_stacking::{Script, run};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::stepping::Stepping;

use super::STEPS;

/// The red cube ends within 3 mm of its target with every step of the paper.
#[test]
fn the_red_cube_lands_on_the_stack() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let scene = config.join("cube_stacking.yaml");
    let loaded = scene_file::load(&scene, &PackageMap::from_environment()).expect("the scene loads");
    let script =
        Script::read(&loaded, &config.join("tasks/cube_stacking.yaml")).expect("the arm reaches its waypoints");
    for step in &STEPS {
        let stepping = Stepping::Quasistatic(loaded.quasistatic);
        let (trace, _) = run(&loaded, &script, stepping, *step, 0.01, &|| 0.0, &mut |_, _| {}).expect("a run");
        println!("h = {step} s: {:.3} mm", trace.miss() * 1e3);
        assert!(trace.miss() <= 3e-3 && trace.not_converged == 0, "h = {step}: {} m", trace.miss());
    }
}

/// Keyframes that the player does not support are refused, and the error names them.
#[test]
fn keyframes_of_another_kind_are_refused() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let loaded =
        scene_file::load(&config.join("cube_stacking.yaml"), &PackageMap::from_environment()).expect("the scene loads");
    let path = std::env::temp_dir().join(format!("isobar_keyframes_{}.yaml", std::process::id()));
    let refused = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        Script::read(&loaded, &path).expect_err(text).to_string()
    };
    let head = "arm: { joints: [iiwa_joint_1] }\ntool: { body: wsg50_grasp }\nframe: iiwa_base\nkeyframes:";
    assert!(refused(&format!("{head}\n  - {{ name: rest, duration: 0.01 }}")).contains("'rest': duration"));
    assert!(refused(&format!("{head}\n  - {{ name: up, duration: 1, xyz: [0, .nan, 0] }}")).contains("'up': xyz"));
    assert!(refused(&format!("{head} []")).contains("at least one"));
    let thumb = head.replace("wsg50_grasp", "thumb");
    assert!(refused(&format!("{thumb}\n  - {{ name: rest, duration: 1 }}")).contains("thumb"));
    let by = refused(&format!("{head}\n  - {{ name: up, duration: 1, by: [0, 0, 1] }}"));
    assert!(by.contains("'up'") && by.contains("xyz"), "{by}");
    let unknown = refused(&format!("{head}\n  - {{ name: up, duration: 1, turn: 1 }}"));
    assert!(unknown.contains("turn") && unknown.contains("isobar_keyframes"), "{unknown}");
    std::fs::remove_file(path).expect("the file was there");
}
