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

/// The same for a second on fixed bases, where limbs swing into each other.
#[test]
fn all_example_robots_step_on_fixed_bases() {
    all_step(false);
}

/// A robot whose first step does not converge on a fixed base.
const FIRST_STEP: &str = "/romeo.urdf";
/// Robots whose limbs turn at 40 rad/s after 0.2 s, with meshes of up to 14,000 triangles. A step then takes
/// seconds, so that they move for a quarter of a second only.
const SLOW: [&str; 2] = ["/g1_29dof_with_hand_rev_1_0.urdf", "/romeo.urdf"];

/// Steps every robot, with its base free or welded.
fn all_step(is_free: bool) {
    let Some(folder) = crate::golden::robots_of_others() else { return };
    let (base, step, steps) = if is_free { ("free", 0.002, 500) } else { ("weld", 0.004, 250) };
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
        let is = |other: &str| !is_free && name.to_string().ends_with(other);
        let (steps, not_converged_max) =
            (if SLOW.iter().any(|slow| is(slow)) { 62 } else { steps }, u32::from(is(FIRST_STEP)));
        let mut not_converged = 0;
        let stepped = (0..steps).try_for_each(|_| {
            simulation.step(&command).map(|report| not_converged += u32::from(!report.solver_converged))
        });
        if let Err(error) = stepped {
            faults.push(format!("{name}: t = {} s: {error}", simulation.time()));
        } else if not_converged > not_converged_max || !simulation.state().q.iter().all(|q| q.is_finite()) {
            faults.push(format!("{name}: {not_converged} steps have not converged"));
        }
        println!(
            "{name}: loaded in {took:.2?}, {} velocities, {not_converged} steps not converged",
            simulation.state().v.len()
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
