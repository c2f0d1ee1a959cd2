//! Robots of another project, example-robot-data, in the folder that ISOBAR_ROBOT_DATA names: each moves
//! as a floating body and on a fixed base.

use std::time::Instant;

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::stepping::JointCommand;

use super::urdf_files;
use crate::scene_file::chain;

/// Real input: every robot falls freely for a second with passive joints. All steps converge, and all numbers
/// stay finite. Loading times are printed.
#[test]
fn all_example_robots_step_while_they_float() {
    all_step(true);
}

/// The same for a quarter of a second on fixed bases. Some limbs swing into each other and jam there: such
/// steps may not converge, and are counted.
#[test]
fn all_example_robots_step_on_fixed_bases() {
    all_step(false);
}

/// Robots whose limbs jam on a fixed base within a second: for up to 46 of 250 steps.
const JAMS: [&str; 8] = [
    "/g1_29dof_with_hand_rev_1_0.urdf",
    "/icub.urdf",
    "/icub_reduced.urdf",
    "/romeo.urdf",
    "/romeo_small.urdf",
    "/talos_reduced.urdf",
    "/talos_reduced_box.urdf",
    "/talos_reduced_corrected.urdf",
];

/// Robots whose steps take seconds on a fixed base once their limbs of fine rigid meshes turn fast: they move
/// for 40 ms only.
const SLOW: [&str; 2] = ["/romeo.urdf", "/romeo_small.urdf"];

/// Steps every robot, with its base free or welded.
fn all_step(is_free: bool) {
    let Some(folder) = crate::golden::robots_of_others() else { return };
    let (base, step, steps) = if is_free { ("free", 0.002, 500) } else { ("weld", 0.004, 62) };
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &folder);
    let mut files = Vec::new();
    urdf_files(&folder, &mut files);
    assert!(files.len() >= 69, "{} robots", files.len());
    let mut faults = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap().display();
        let text = format!("step: {step}\nmodels: [{{ name: robot, urdf: '{}', {base}: {{}} }}]\n", file.display());
        let began = Instant::now();
        let loaded = match scene_file::load_str(&text, &folder.join("scene.yaml"), &packages) {
            Ok(loaded) => loaded,
            // This file has no links.
            Err(error) if name.to_string().ends_with("/ur3.urdf") && chain(&error).contains("xacro") => continue,
            Err(error) => {
                faults.push(format!("{name}: {}", chain(&error)));
                continue;
            }
        };
        let took = began.elapsed();
        let mut simulation = loaded.simulation().unwrap();
        let command = JointCommand::new(&loaded.scene);
        let is_slow = !is_free && SLOW.iter().any(|slow| name.to_string().ends_with(slow));
        let steps = if is_slow { 10 } else { steps };
        let mut not_converged = 0;
        let stepped = (0..steps).try_for_each(|_| {
            simulation.step(&command).map(|report| not_converged += u32::from(!report.solver_converged))
        });
        if let Err(error) = stepped {
            faults.push(format!("{name}: t = {} s: {error}", simulation.time()));
        } else if not_converged
            > if !is_free && JAMS.iter().any(|jams| name.to_string().ends_with(jams)) { 60 } else { 0 }
            || !simulation.state().q.iter().all(|q| q.is_finite())
        {
            faults.push(format!("{name}: {not_converged} steps have not converged"));
        }
        println!(
            "{name}: loaded in {took:.2?}, {} velocities, {not_converged} steps not converged",
            simulation.state().v.len()
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
