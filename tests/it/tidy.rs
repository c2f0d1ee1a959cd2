//! The rules of ARCHITECTURE.md that a program can check.

mod imports;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The rooms, and what each may use, from ARCHITECTURE.md.
const ROOMS: [(&str, &str); 14] = [
    ("math", ""),
    ("names", ""),
    ("geometry", "math"),
    ("multibody", "math"),
    ("solvers", "math"),
    ("contact", "math geometry solvers"),
    ("scene", "math geometry multibody contact"),
    ("stepping", "math geometry multibody solvers contact scene"),
    ("picture", "math geometry contact scene stepping"),
    ("robot", "math geometry multibody contact scene"),
    ("recording", "math multibody scene stepping"),
    ("io", "math names geometry multibody solvers contact scene stepping robot recording"),
    ("experiments", "math geometry multibody solvers contact scene stepping picture robot recording io"),
    ("ros", "math names geometry multibody solvers contact scene stepping picture robot recording io"),
];

/// Foreign crates that stay behind doors: the only paths under src, besides isobar_node.rs, that may name
/// them.
const DOORS: [(&str, &[&str]); 27] = [
    ("wide", &["src/math/lanes.rs"]),
    ("parry3d", &["src/geometry/signed_distance.rs"]),
    ("clarabel", &["src/solvers/quasistatic/interior_point/"]),
    ("strsim", &["src/names.rs"]),
    ("serde", &["src/io/scene_file/", "src/io/drawing_file.rs", "src/experiments/"]),
    ("serde_json", &["src/io/bag/point_cloud.rs", "src/io/drawing_file.rs"]),
    ("serde_saphyr", &["src/io/scene_file/"]),
    ("roxmltree", &["src/io/xml.rs"]),
    ("urdf_rs", &["src/io/urdf/"]),
    ("stl_io", &["src/io/mesh_files/"]),
    ("tobj", &["src/io/mesh_files/"]),
    ("gltf_json", &["src/io/mesh_files/gltf.rs"]),
    ("base64", &["src/io/mesh_files/gltf.rs"]),
    ("csv", &["src/io/csv_file/"]),
    ("mcap", &["src/io/bag/writer.rs"]),
    ("crc32fast", &["src/stepping/checkpoint.rs"]),
    ("png", &["src/picture/png_file.rs"]),
    ("plotters", &["src/experiments/plot.rs"]),
    ("clap", &["src/bin/isobar/"]),
    ("indicatif", &["src/bin/isobar/"]),
    ("r2r", &["src/ros/client/"]),
    ("tokio", &["src/ros/node.rs"]),
    ("futures", &["src/ros/client/"]),
    ("regex", &["src/ros/services/simulation_interfaces/entities.rs"]),
    ("rustix", &["src/ros/scheduling.rs"]),
    ("thread_priority", &["src/ros/scheduling.rs"]),
    ("tracing", &["src/ros/"]),
];

/// Foreign crates that every room may name: vectors and matrices, and the derivation of errors.
/// `tracing_subscriber` belongs to `tracing`.
const EVERYWHERE: [&str; 3] = ["nalgebra", "thiserror", "tracing_subscriber"];

/// The largest number of lines of a file: longer ones have more than one subject.
const FILE_LINES_MAX: usize = 600;

/// The width of comments and docstrings; rustfmt.toml has that of code.
const COMMENT_COLUMNS: usize = 110;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    files(folder, &["rs"], found);
}

/// The files below `folder` with one of these extensions, sorted.
fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, extensions, found);
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known)) {
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

/// The text of a file of the project.
fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of the project")
}

/// The text of a comment line, without its slashes.
fn comment(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("//")?;
    Some(rest.trim_start_matches(['/', '!']).trim())
}

/// (path relative to the project, text) of sources, examples, tests and pages.
fn all_texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|page| root.join(page)).into();
    for folder in ["src", "examples", "tests/it", "docs"] {
        let mut inside = Vec::new();
        files(&root.join(folder), &["rs", "md"], &mut inside);
        found.append(&mut inside);
    }
    let relative = |path: &PathBuf| path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
    let named = found.iter().map(|path| (relative(path), std::fs::read_to_string(path).expect("a text")));
    named.filter(|(path, _)| path != "tests/it/tidy/words.rs").collect()
}

fn room_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("src/")?;
    inside.split(['/', '.']).next()
}

/// The names that follow `prefix` in `code`, if the prefix starts a path.
fn names_after<'c>(code: &'c str, prefix: &str) -> Vec<&'c str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(prefix)
        .filter(|(start, _)| !code[..*start].ends_with(|c: char| is_name(c) || c == ':'))
        .map(|(start, _)| code[start + prefix.len()..].split(|c| !is_name(c)).next().unwrap_or(""))
        .collect()
}

/// The words in backticks of `text`.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn dependencies_point_one_way() {
    let mut wrong = Vec::new();
    for (path, code) in all_sources() {
        let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| Some(*room) == room_of(&path)) else { continue };
        for used in names_after(&code, "crate::") {
            // Inside the library, items are named by their rooms: the re-exports of lib.rs are for users.
            let is_room = ROOMS.iter().any(|(name, _)| *name == used);
            if used != *room && (!is_room || !allowed.split(' ').any(|room| room == used)) {
                wrong.push(format!("{path} uses crate::{used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_room_is_known_and_on_the_map() {
    let map = read("ARCHITECTURE.md");
    let known = ["lib", "bin"].into_iter().chain(ROOMS.map(|(room, _)| room)).collect::<BTreeSet<_>>();
    let sources = all_sources();
    let unknown: BTreeSet<_> = sources.keys().filter_map(|path| room_of(path)).filter(|r| !known.contains(r)).collect();
    assert!(unknown.is_empty(), "rooms that ROOMS does not have: {unknown:?}");
    for (room, _) in ROOMS {
        let named = [format!("src/{room}/"), format!("src/{room}.rs")].iter().any(|name| map.contains(name));
        assert!(named, "ARCHITECTURE.md does not have the room {room}");
    }
}

/// Every path that the map names exists.
#[test]
fn the_map_names_existing_paths() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = read("ARCHITECTURE.md");
    let is_path = |c: char| c.is_alphanumeric() || "/_.-".contains(c);
    let starts = ["src/", "tests/", "docs/", "config/", "scripts/", "controllers/", "examples/"];
    let mut missing = BTreeSet::new();
    for word in map.split(|c| !is_path(c)) {
        let path = word.trim_end_matches(['.', '-']);
        if starts.iter().any(|start| path.starts_with(start)) && !root.join(path).exists() {
            missing.insert(path);
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names paths that do not exist: {missing:?}");
}

#[test]
fn foreign_crates_stay_behind_their_door() {
    let mut wrong = Vec::new();
    for (path, code) in all_sources() {
        for (name, doors) in DOORS {
            let is_behind = doors.iter().any(|door| path.starts_with(door)) || path == "src/bin/isobar_node.rs";
            let named = !names_after(&code, &format!("{name}::")).is_empty();
            if named && !is_behind {
                wrong.push(format!("{path} names {name}, which belongs behind {doors:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_dependency_has_a_door_that_the_map_names() {
    let manifest = read("Cargo.toml");
    let dependencies = manifest.split("\n[dependencies]\n").nth(1).expect("dependencies").split("\n[").next();
    let declared: BTreeSet<String> = dependencies
        .expect("a section")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name.replace('-', "_")))
        .collect();
    let doors: BTreeSet<&str> = DOORS.iter().map(|(name, _)| *name).collect();
    let known: BTreeSet<String> = doors.iter().copied().chain(EVERYWHERE).map(str::to_owned).collect();
    assert_eq!(declared, known, "Cargo.toml (left), and DOORS with EVERYWHERE (right)");
    let map = read("ARCHITECTURE.md");
    let paragraph = map.split("One foreign crate, one door").nth(1).and_then(|rest| rest.split("\n\n").next());
    assert_eq!(quoted(paragraph.expect("the paragraph")), doors, "ARCHITECTURE.md (left) and DOORS (right)");
}

/// The crates that cargo builds for the library without default features.
#[test]
fn the_library_alone_needs_no_program_and_no_pictures() {
    let output = std::process::Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--locked", "--offline", "--no-default-features", "--edges", "normal", "--prefix", "none"])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("text");
    let built: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(built.contains("nalgebra"), "a tree: {tree}");
    for name in ["clap", "plotters", "png", "indicatif", "r2r", "tokio", "tracing"] {
        assert!(!built.contains(name), "the library without default features builds {name}");
    }
}

/// rustdoc reads `[m]` as a link to an item called m: units in documentation are written with backslashes,
/// `\\[m\\]`.
#[test]
fn units_do_not_look_like_links() {
    const UNITS: [&str; 17] =
        ["m", "m2", "m3", "m³", "mm", "s", "ms", "ns", "rad", "N", "Pa", "kg", "J", "W", "Hz", "px", "g"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    sources(&root.join("src"), &mut found);
    let mut wrong = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for (number, line) in text.lines().enumerate() {
            let documents = line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
            // Text in backticks is code.
            let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            if documents && UNITS.iter().any(|unit| prose.replace("\\[", "").contains(&format!("[{unit}]"))) {
                wrong.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "write \\[m\\] for [m] in {wrong:#?}");
}

/// The simulation waits for the mailbox's lock. So messages are checked, and suggestions for misspelt names
/// are made, before it is taken.
#[test]
fn no_suggestion_is_made_under_the_lock_of_the_mailbox() {
    let under_lock = |path: &str| {
        let rooms = ["src/ros/exchange/", "src/ros/commands/standing_command", "src/ros/commands/tracking.rs"];
        let tests = ["/tests.rs", "/interleavings.rs"];
        rooms.iter().any(|room| path.starts_with(room)) && !tests.iter().any(|test| path.ends_with(test))
    };
    let sources: Vec<_> = all_sources().into_iter().filter(|(path, _)| under_lock(path)).collect();
    assert!(sources.iter().any(|(path, _)| path == "src/ros/exchange/mailbox.rs") && sources.len() > 10);
    for (path, code) in sources {
        let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for forbidden in ["did_you_mean", "nearest(", "edit_distance", "CommandMessage", "Trajectory::new"] {
            assert!(!code.contains(forbidden), "{path}: {forbidden}");
        }
    }
    // Only `with_positions` calls code of its caller under the lock.
    let mailbox = read("src/ros/exchange/mailbox.rs");
    let public = mailbox.split("    pub(crate) fn ").skip(1).filter_map(|rest| rest.split('{').next());
    let takes: Vec<&str> = public.filter(|head| head.contains("Fn")).filter_map(|h| h.split('(').next()).collect();
    assert_eq!(takes, ["with_positions<R>"]);
    assert!(read("src/ros/subscriptions/controllers.rs").contains("joint.is_at(positions"), "it only copies numbers");
}

#[test]
fn files_stay_small() {
    for (path, code) in all_sources() {
        let lines = code.lines().count();
        assert!(lines <= FILE_LINES_MAX, "{path} has {lines} lines; split it by subject");
    }
}

/// (number, text) of the lines of a program that are comments or docstrings.
fn comment_lines<'t>(path: &Path, text: &'t str) -> Vec<(usize, &'t str)> {
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    // Whether a string of Python is open, and whether it is a docstring.
    let mut string: Option<bool> = None;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mut is_comment = string == Some(true) || start.starts_with(if is_rust { "//" } else { "#" });
        if !is_rust {
            let documents = start.starts_with("\"\"\"");
            is_comment |= documents && string.is_none();
            if line.matches("\"\"\"").count() % 2 == 1 {
                string = if string.is_some() { None } else { Some(documents) };
            }
        }
        if is_comment {
            found.push((number + 1, line));
        }
    }
    found
}

#[test]
fn comments_fit_the_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![root.join("build.rs")];
    for folder in ["src", "examples", "tests", "fuzz/fuzz_targets", "controllers", "launch", "scripts"] {
        files(&root.join(folder), &["rs", "py", "sh"], &mut found);
    }
    let scripts =
        std::fs::read_dir(root.join("scripts")).expect("a folder").map(|entry| entry.expect("an entry").path());
    found.extend(scripts.filter(|path| path.is_file()));
    let mut long = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a program");
        let wide = |(_, line): &(usize, &str)| line.chars().count() > COMMENT_COLUMNS;
        long.extend(
            comment_lines(&path, &text).into_iter().filter(wide).map(|(n, _)| format!("{}:{n}", path.display())),
        );
    }
    assert!(long.is_empty(), "comments over {COMMENT_COLUMNS} columns: {long:#?}");
}

/// Oracle: lines written for the purpose.
#[test]
fn comments_and_docstrings_are_found() {
    let numbers =
        |path: &str, text: &str| comment_lines(Path::new(path), text).iter().map(|(n, _)| *n).collect::<Vec<_>>();
    assert_eq!(numbers("a.rs", "//! A room.\nfn f() {} // not this\n    // this\n"), [1, 3]);
    let python = "# A comment.\ndef f():\n    \"\"\"A docstring\n    of two lines.\"\"\"\nTEXT = \"\"\"\nno comment\n\"\"\"\n# Another.\n";
    assert_eq!(numbers("a.py", python), [1, 3, 4, 8]);
}
