//! Where reference results are read from.

use std::path::PathBuf;

/// The reference file `relative`: below the folder named by ISOBAR_ORACLE when that is set, else below tests/golden.
/// `None`, said aloud, when the named folder does not have it.
pub(crate) fn file(relative: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("ISOBAR_ORACLE") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden"),
    };
    let path = folder.join(relative);
    if path.is_file() {
        return Some(path);
    }
    assert!(std::env::var_os("ISOBAR_ORACLE").is_some(), "tests/golden must have {relative}");
    println!("missing: {relative} is not below the folder named by ISOBAR_ORACLE; its comparison is skipped");
    None
}

/// The reference file `relative` as JSON.
pub(crate) fn json(relative: &str) -> Option<serde_json::Value> {
    let path = file(relative)?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// All JSON files directly below the folder `relative`, in the order of their names; none, said aloud, where it is missing.
pub(crate) fn folder(relative: &str) -> Vec<serde_json::Value> {
    let root = match std::env::var_os("ISOBAR_ORACLE") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden"),
    };
    let mut names: Vec<String> = std::fs::read_dir(root.join(relative))
        .map(|entries| entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
        .unwrap_or_default();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    if names.is_empty() {
        println!("missing: {relative}/*.json below {}; its comparison is skipped", root.display());
    }
    names.iter().filter_map(|name| json(&format!("{relative}/{name}"))).collect()
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
