//! Robot files: what is read, what is refused and how.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::urdf::{LoadOptions, load_file};

fn urdf_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            urdf_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "urdf") {
            found.push(path);
        }
    }
}

/// Real input: every robot of example-robot-data, made by others, loads; what is skipped is a warning.
#[test]
fn all_example_robots_load() {
    let Some(folder) = std::env::var_os("ISOBAR_ROBOT_DATA").map(PathBuf::from) else {
        println!(
            "skipped: set ISOBAR_ROBOT_DATA to the folder share/example-robot-data of the PyPI package \
             example-robot-data"
        );
        return;
    };
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &folder);
    let mut files = Vec::new();
    urdf_files(&folder, &mut files);
    assert!(!files.is_empty(), "no .urdf below {}", folder.display());
    let mut refused = 0;
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match load_file(file, &packages, &LoadOptions::default()) {
            Ok(robot) => println!(
                "{name}: {} links, {} joints, {} dofs, mass {:.6} kg, {} collision geometries, {} warnings",
                robot.links.len(),
                robot.joints.len(),
                robot.num_dofs(),
                robot.total_mass(),
                robot.links.iter().map(|link| link.collisions.len()).sum::<usize>(),
                robot.warnings.len()
            ),
            Err(error) => {
                refused += 1;
                println!("{name}: REFUSED: {error}");
            }
        }
    }
    println!("{} of {} robots load", files.len() - refused, files.len());
    assert_eq!(refused, 0);
}
