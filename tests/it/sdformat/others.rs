//! Models of another project, RobotLocomotion/models, in the folder that ISOBAR_DRAKE_MODELS names.

use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::urdf::{LoadOptions, load_file};

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

/// Real input: every SDFormat file loads, or its error names the file, the line and the reason.
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
    // One file has a stray quotation mark in a number.
    assert!(refused.iter().all(|error| error.contains(".sdf:") && error.contains("is not one finite number")));
    assert!(refused.len() <= 1, "{}", refused.join("\n"));
}
