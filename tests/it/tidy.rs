//! The rules of ARCHITECTURE.md that a program can check.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What each room may use, from ARCHITECTURE.md.
const ROOMS: [(&str, &[&str]); 11] = [
    ("math", &[]),
    ("geometry", &["math"]),
    ("multibody", &["math"]),
    ("solvers", &["math"]),
    ("contact", &["math", "geometry", "solvers"]),
    ("scene", &["math", "geometry", "multibody", "contact"]),
    ("stepping", &["math", "geometry", "multibody", "solvers", "contact", "scene"]),
    ("picture", &["math", "geometry", "contact", "scene", "stepping"]),
    ("io", &["math", "geometry", "multibody", "solvers", "contact", "scene", "stepping"]),
    ("experiments", &["math", "geometry", "multibody", "solvers", "contact", "scene", "stepping", "io"]),
    ("ros", &["math", "geometry", "multibody", "solvers", "contact", "scene", "stepping", "picture", "io"]),
];

/// Foreign crates that stay behind one door: the only paths under src that may name them.
const DOORS: [(&str, &str); 12] = [
    ("wide", "src/math/lanes.rs"),
    ("plotters", "src/experiments/plot.rs"),
    ("clarabel", "src/solvers/quasistatic/interior_point/"),
    ("parry3d", "src/geometry/signed_distance.rs"),
    ("urdf_rs", "src/io/urdf/"),
    ("stl_io", "src/io/mesh_files/"),
    ("tobj", "src/io/mesh_files/"),
    ("png", "src/picture/png_file.rs"),
    ("serde_saphyr", "src/io/scene_file/"),
    ("mcap", "src/io/bag/writer.rs"),
    ("r2r", "src/ros/"),
    ("regex", "src/ros/standard/entities.rs"),
];

/// Longer files have more than one subject.
const FILE_LINES_MAX: usize = 600;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// (path relative to the project, text without comments) of all sources.
fn all_sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    sources(&root.join("src"), &mut found);
    found
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
            (path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned(), code.join("\n"))
        })
        .collect()
}

fn room_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("src/")?;
    inside.split(['/', '.']).next()
}

#[test]
fn dependencies_point_one_way() {
    let mut wrong = Vec::new();
    for (path, code) in all_sources() {
        let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| Some(*room) == room_of(&path)) else { continue };
        for piece in code.split("crate::").skip(1) {
            let used: String = piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let known = ROOMS.iter().any(|(name, _)| *name == used);
            if known && used != *room && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{path} uses crate::{used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn foreign_crates_stay_behind_their_door() {
    let mut wrong = Vec::new();
    for (path, code) in all_sources() {
        for (name, door) in DOORS {
            let named = code.contains(&format!("{name}::"));
            if named && !path.starts_with(door) && path != "src/bin/isobar_node.rs" {
                wrong.push(format!("{path} names {name}, which belongs behind {door}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_stay_small() {
    for (path, code) in all_sources() {
        let lines = code.lines().count();
        assert!(lines <= FILE_LINES_MAX, "{path} has {lines} lines; split it by subject");
    }
}
