//! Models of another project, RobotLocomotion/models, in the folder that ISOBAR_DRAKE_MODELS names.

use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::io::urdf::{LoadOptions, load_file};
use isobar::stepping::{JointCommand, Snapshot};

fn sdf_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sdf_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "sdf") {
            found.push(path);
        }
    }
}

/// Real input: every SDFormat file loads. (One has a stray quotation mark in a number.)
#[test]
fn all_models_of_drake_load() {
    let Some(folder) = crate::golden::drake_models() else { return };
    let mut packages = PackageMap::new();
    packages.insert("drake_models", &folder);
    let mut files = Vec::new();
    sdf_files(&folder, &mut files);
    assert!(!files.is_empty(), "no .sdf below {}", folder.display());
    let mut refused = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap().display();
        match load_file(file, &packages, &LoadOptions::default()) {
            Ok(robot) => println!(
                "{name}: {} links, {} dofs, {:.6} kg, {} warnings",
                robot.links.len(),
                robot.num_dofs(),
                robot.total_mass(),
                robot.warnings.len()
            ),
            Err(error) => refused.push(error.to_string()),
        }
    }
    println!("{} of {} files load", files.len() - refused.len(), files.len());
    refused.iter().for_each(|error| println!("{error}"));
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Real input: the soft-bubble gripper of that project holds our spatula, with the same motion as our file of
/// the same gripper: both state the same frames, masses and bubbles. A second of the scene of the slip task,
/// whose grip is 16 N.
#[test]
fn the_soft_bubble_gripper_of_drake_holds_our_spatula() {
    let Some(folder) = crate::golden::drake_models() else { return };
    let mut packages = PackageMap::new();
    packages.insert("drake_models", &folder);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/spatula_slip.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let theirs = folder.join("wsg_50_description/sdf/schunk_wsg_50_hydro_bubble.sdf");
    let other = text.replace("urdf: ../urdf/wsg50_bubble_gripper.urdf", &format!("sdf: '{}'", theirs.display()));
    assert_ne!(text, other);
    let pitch = |text: &str| {
        let mut loaded = scene_file::load_str(text, &file, &packages).unwrap();
        let mut simulation = loaded.simulation().unwrap();
        let mut command = JointCommand::new(&loaded.scene);
        for _ in 0..1000 {
            loaded.commands.fill(simulation.time_ns(), &mut command);
            simulation.step(&command).unwrap();
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        loaded.outputs.evaluate(&snapshot).to_vec()
    };
    let (ours, theirs) = (pitch(&text), pitch(&other));
    assert_eq!(ours, theirs, "pitch, grip forces, area, faces");
    assert!((theirs[0] + 0.4).abs() < 0.01 && (theirs[1] - 16.0).abs() < 0.1, "{theirs:?}");
}
