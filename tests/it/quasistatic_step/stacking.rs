//! The cube stacking of the paper with its steps: the cube stands on the stack in the end.

use std::path::Path;

use isobar::experiments::cube_stacking::{Script, run};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::stepping::Stepping;

use super::STEPS;

/// Within 3 mm of its place with every step of the paper.
#[test]
fn the_red_cube_lands_on_the_stack() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/cube_stacking.yaml");
    let loaded = scene_file::load(&path, &PackageMap::from_environment()).expect("the scene loads");
    let script = Script::new(&loaded).expect("the arm reaches its waypoints");
    for step in &STEPS {
        let stepping = Stepping::Quasistatic(loaded.quasistatic);
        let (trace, _) = run(&loaded, &script, stepping, *step, 0.01, &|| 0.0, &mut |_, _| {}).expect("a run");
        println!("h = {step} s: {:.3} mm", trace.miss() * 1e3);
        assert!(trace.miss() <= 3e-3 && trace.not_converged == 0, "h = {step}: {} m", trace.miss());
    }
}
