//! The location of reference data, and the treatment of missing data.
//!
//! References below tests/golden belong to the source: a missing one fails its test. Data from other projects
//! are installed separately: without them a test is skipped with a line on the terminal, or fails if
//! `ISOBAR_REQUIRE_ALL` is set.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Skips a comparison with a line that the test harness does not capture.
///
/// # Panics
/// `ISOBAR_REQUIRE_ALL` is set.
pub(crate) fn skip(what: &str) {
    let message = format!("skipped: {what}");
    let required = std::env::var_os("ISOBAR_REQUIRE_ALL").is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!required, "{message} (ISOBAR_REQUIRE_ALL is set: nothing may be skipped)");
    say(&message);
}

/// A line on the terminal, even if the test passes and the harness captures its output.
fn say(message: &str) {
    // A closed terminal does not fail a test.
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// The folder of robots from other projects, `share/example-robot-data` of the Python package, which
/// ISOBAR_ROBOT_DATA names.
pub(crate) fn robots_of_others() -> Option<PathBuf> {
    let folder = std::env::var_os("ISOBAR_ROBOT_DATA").map(PathBuf::from);
    if folder.is_none() {
        skip("set ISOBAR_ROBOT_DATA to the folder share/example-robot-data of the Python package example-robot-data");
    }
    folder
}

/// The folder of objects from other projects, `pybullet_data` of the Python package pybullet, which
/// ISOBAR_MESH_DATA names. It serves a survey of meshes only, and `ISOBAR_REQUIRE_ALL` does not require it.
pub(crate) fn objects_of_others() -> Option<PathBuf> {
    let folder = std::env::var_os("ISOBAR_MESH_DATA").map(PathBuf::from);
    if folder.is_none() {
        say("skipped: set ISOBAR_MESH_DATA to the folder pybullet_data of the Python package pybullet");
    }
    folder
}

/// The folder of models of another project, a clone of RobotLocomotion/models, which ISOBAR_DRAKE_MODELS
/// names. They are not part of the source, and `ISOBAR_REQUIRE_ALL` does not require them.
pub(crate) fn drake_models() -> Option<PathBuf> {
    let folder = std::env::var_os("ISOBAR_DRAKE_MODELS").map(PathBuf::from);
    if folder.is_none() {
        say("skipped: set ISOBAR_DRAKE_MODELS to a clone of the public repository RobotLocomotion/models");
    }
    folder
}

/// The folder of reference paths and measurements of pushed objects, which ISOBAR_DATA names. They are not
/// part of the source, and `ISOBAR_REQUIRE_ALL` does not require them.
pub(crate) fn measurements() -> Option<PathBuf> {
    let folder = std::env::var_os("ISOBAR_DATA").map(PathBuf::from);
    if folder.is_none() {
        say("skipped: set ISOBAR_DATA to the folder of reference paths, with the subfolder planar_push");
    }
    folder
}

/// The folder of references, and whether it is that of the source.
fn root() -> (PathBuf, bool) {
    match std::env::var_os("ISOBAR_ORACLE") {
        Some(folder) => (PathBuf::from(folder), false),
        None => (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), true),
    }
}

/// The reference file `relative`: below the folder named by ISOBAR_ORACLE when that is set, else below
/// tests/golden. `None`, with a line on the terminal, when the named folder does not have it.
pub(crate) fn file(relative: &str) -> Option<PathBuf> {
    let (root, is_ours) = root();
    let path = root.join(relative);
    if path.is_file() {
        return Some(path);
    }
    assert!(!is_ours, "tests/golden must have {relative}");
    skip(&format!("{relative} is not below the folder named by ISOBAR_ORACLE"));
    None
}

/// The reference file `relative` as JSON.
pub(crate) fn json(relative: &str) -> Option<serde_json::Value> {
    let path = file(relative)?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// All JSON files directly below the folder `relative`, in the order of their names. There is at least one in
/// tests/golden; a folder named by ISOBAR_ORACLE may have none, with a line on the terminal.
pub(crate) fn folder(relative: &str) -> Vec<serde_json::Value> {
    let (root, is_ours) = root();
    let files = json_files(&root.join(relative));
    if files.is_empty() {
        assert!(!is_ours, "tests/golden/{relative} must have references (*.json)");
        skip(&format!("there is no {relative}/*.json below {}", root.display()));
    }
    files.iter().filter_map(|name| json(&format!("{relative}/{name}"))).collect()
}

/// The names of the JSON files directly in `folder`, sorted; none if there is no such folder.
fn json_files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
        .unwrap_or_default();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names
}

/// The numbers of a JSON array.
pub(crate) fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// All numbers of nested JSON arrays, one after the other.
pub(crate) fn floats(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(items) => items.iter().flat_map(floats).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

/// Largest difference as a share of the largest expected entry.
pub(crate) fn difference(actual: impl IntoIterator<Item = f64>, expected: &[f64]) -> f64 {
    let actual: Vec<f64> = actual.into_iter().collect();
    assert_eq!(actual.len(), expected.len());
    let largest = expected.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
    let error = actual.iter().zip(expected).fold(0.0_f64, |max, (a, b)| max.max((a - b).abs()));
    if error == 0.0 { 0.0 } else { error / largest }
}
