//! Robot files: reading, refusals and their messages.
#![allow(non_snake_case)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

mod elements;
mod errors;
mod gltf;
mod habits;
mod inspection;
mod meshes;
mod others;
mod polygons;

use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::urdf::{LoadOptions, UrdfError, load_file, load_str};
use isobar::robot::RobotDescription;
use isobar::robot::inspect::report;

/// The folder of this suite's files.
fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/urdf")
}

/// A package map with the test's install prefix and source folder, and nothing from the environment.
fn packages() -> PackageMap {
    let mut packages = PackageMap::new();
    packages.add_prefix(golden().join("install"));
    packages.add_source_folder(golden().join("workspace"));
    packages
}

/// Loads text as the file `test.urdf`.
fn load(text: &str) -> Result<RobotDescription, UrdfError> {
    load_str(text, Path::new("test.urdf"), &golden(), &packages(), &LoadOptions::default())
}

/// A robot of the given elements.
fn robot(elements: &str) -> String {
    format!("<robot name=\"test\">\n{elements}\n</robot>")
}

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

/// One line of `example_robots.csv`: file, degrees of freedom, mass [kg], collision geometries.
fn expected_robots() -> Vec<(String, usize, f64, usize)> {
    let table = std::fs::read_to_string(golden().join("example_robots.csv")).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0].to_owned(), fields[1].parse().unwrap(), fields[2].parse().unwrap(), fields[3].parse().unwrap())
    };
    table.lines().skip(1).map(row).collect()
}

/// Real input: every robot of example-robot-data loads; skipped parts give warnings. Degrees of freedom, mass
/// and number of collision geometries are those that Pinocchio finds.
#[test]
fn all_example_robots_load() {
    let Some(folder) = crate::golden::robots_of_others() else { return };
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &folder);
    let mut files = Vec::new();
    urdf_files(&folder, &mut files);
    assert!(!files.is_empty(), "no .urdf below {}", folder.display());
    let expected = expected_robots();
    let mut faults = Vec::new();
    let mut loaded = 0;
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        let robot = match load_file(file, &packages, &LoadOptions::default()) {
            Ok(robot) => robot,
            Err(error) => {
                faults.push(format!("{name}: refused: {error}"));
                continue;
            }
        };
        loaded += 1;
        let geometries = robot.links.iter().map(|link| link.collisions.len()).sum::<usize>();
        println!(
            "{name}: {} links, {} joints, {} dofs, mass {:.6} kg, {geometries} collision geometries, {} warnings",
            robot.links.len(),
            robot.joints.len(),
            robot.num_dofs(),
            robot.total_mass(),
            robot.warnings.len()
        );
        assert!(report(&robot).contains(&format!("collision geometries  {geometries}\n")));
        // Other releases of the package may hold other robots: those are only loaded.
        if let Some((_, dofs, mass, expected_geometries)) = expected.iter().find(|(file, ..)| *file == name) {
            // Two orders of summation of at most a few hundred masses.
            let same_mass = (robot.total_mass() - mass).abs() <= 1e-12 * mass;
            if robot.num_dofs() != *dofs || !same_mass || geometries != *expected_geometries {
                faults.push(format!("{name}: expected {dofs} dofs, {mass} kg, {expected_geometries} geometries"));
            }
        }
    }
    println!("{loaded} of {} robots load", files.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
