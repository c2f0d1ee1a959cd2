//! The pages: every command that is marked as one runs and prints the output on the page. All others, such as
//! whole experiments, are not run, but their options exist.
//! Every link leads somewhere, every path that a page names exists, and prose fits 100 columns.
//!
//! The word after the language of a fence gives the kind of a block. `yaml NAME`, `xml NAME`, `python NAME`:
//! a file that the reader saves. `sh`: commands, run in a folder with the files of the page before them. `sh
//! fails`: commands that end with an error. `sh setup`: commands that make the program, which the tests have.
//! `sh ros`, `sh ros background`: commands for `tests/ros/test_pages.py`. `text output`: lines that the
//! commands before it print, with … for anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Columns of a line of prose.
const COLUMNS: usize = 100;
/// Pages of the project that links may lead to and from.
const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
/// Shelves and pages whose commands are run.
const RUN: [&str; 5] = ["docs/tutorials", "docs/how-to", "docs/theory", "docs/reference", "README.md"];

fn under(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            under(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// All pages, by their paths from the root.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        PAGES.iter().map(|page| Path::new(ROOT).join(page)).filter(|page| page.exists()).collect();
    under(&Path::new(ROOT).join("docs"), &mut found);
    found.iter().map(|page| page.strip_prefix(ROOT).expect("below the root").to_path_buf()).collect()
}

fn text(page: &Path) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).expect("a page")
}

/// A fenced block: the words after the fence, the line of the fence, and its text.
#[derive(Debug)]
struct Block {
    words: Vec<String>,
    line: usize,
    text: String,
}

/// The fenced blocks of a page and the rest of its lines, numbered from 1.
fn parts(page: &str) -> (Vec<Block>, Vec<(usize, &str)>) {
    let (mut blocks, mut prose, mut open) = (Vec::new(), Vec::new(), None::<Block>);
    for (number, line) in page.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(words), None) => {
                let words = words.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { words, line: number + 1, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => prose.push((number + 1, line)),
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    (blocks, prose)
}

/// The anchor that a heading has, as GitHub makes it: small letters, no punctuation, hyphens for spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept: String = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect();
    kept.replace(' ', "-")
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let text = text(page);
    let (_, prose) = parts(&text);
    prose
        .iter()
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| anchor(line.trim_start_matches('#')))
        .collect()
}

/// The targets of the links and images of a line.
fn links(line: &str) -> Vec<&str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// `a/../b` is `b`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = text(&page);
        for (number, line) in parts(&text).1 {
            for link in links(line) {
                if link.starts_with("http") {
                    continue;
                }
                count += 1;
                let (file, place) = link.split_once('#').unwrap_or((link, ""));
                let target =
                    if file.is_empty() { page.clone() } else { normal(&page.parent().expect("a folder").join(file)) };
                let exists = Path::new(ROOT).join(&target).exists();
                if !exists || (!place.is_empty() && !anchors(&target).contains(place)) {
                    broken.push(format!("{}:{number}: {link}", page.display()));
                }
            }
        }
    }
    assert!(count > 50, "only {count} links: are they still found?");
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// All pages can be reached from the index, and every picture is used.
#[test]
fn nothing_is_lost() {
    let mut shown = BTreeSet::new();
    for page in pages() {
        let text = text(&page);
        let targets = parts(&text).1.into_iter().flat_map(|(_, line)| links(line));
        let folder = page.parent().expect("a folder").to_path_buf();
        shown.extend(targets.map(|link| normal(&folder.join(link.split('#').next().unwrap_or(link)))));
    }
    let mut pictures: Vec<_> = fs::read_dir(Path::new(ROOT).join("docs/images")).expect("pictures").collect();
    pictures.sort_by_key(|entry| entry.as_ref().map(std::fs::DirEntry::path).ok());
    let pictures =
        pictures.into_iter().map(|entry| Path::new("docs/images").join(entry.expect("a picture").file_name()));
    let index = text(Path::new("docs/README.md"));
    let indexed: BTreeSet<_> = index.lines().flat_map(links).map(|link| Path::new("docs").join(link)).collect();
    let lost: Vec<_> = pictures.filter(|picture| !shown.contains(picture)).collect();
    assert!(lost.is_empty(), "no page shows {lost:?}");
    let pages = pages().into_iter().filter(|page| page.starts_with("docs") && !page.ends_with("README.md"));
    let lost: Vec<_> = pages.filter(|page| !indexed.contains(page)).collect();
    assert!(lost.is_empty(), "docs/README.md does not list {lost:?}");
}

/// Paths in back quotes that begin with a folder of the repository, as in `src/math/`.
#[test]
fn paths_on_pages_exist() {
    let starts =
        ["src/", "tests/", "docs/", "config/", "scripts/", "controllers/", "examples/", "launch/", "urdf/", "meshes/"];
    let mut gone = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = text(&page);
        for (number, line) in parts(&text).1 {
            let quoted =
                line.split('`').skip(1).step_by(2).map(|quoted| quoted.split_whitespace().next().unwrap_or(""));
            for path in quoted.filter(|quoted| starts.iter().any(|start| quoted.starts_with(start))) {
                count += 1;
                if !path.contains(['*', '<', '{']) && !path.contains("NAME") && !Path::new(ROOT).join(path).exists() {
                    gone.push(format!("{}:{number}: {path}", page.display()));
                }
            }
        }
    }
    assert!(count > 40, "only {count} paths: are they still found?");
    assert!(gone.is_empty(), "paths that do not exist:\n{}", gone.join("\n"));
}

/// Pages that code, scenes, scripts and robots point to.
#[test]
fn pages_that_files_name_exist() {
    let mut files = Vec::new();
    for folder in ["src", "tests/it", "tests/ros", "tests/bench", "config", "controllers", "scripts", "urdf", "launch"]
    {
        all_files(&Path::new(ROOT).join(folder), &mut files);
    }
    let mut gone = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let is_path = |c: char| c.is_alphanumeric() || "/_.-".contains(c);
        let named = text.split(|c| !is_path(c)).map(|word| word.trim_end_matches('.'));
        let named = named.filter(|word| word.starts_with("docs/") && word.ends_with(".md"));
        gone.extend(
            named.filter(|word| !Path::new(ROOT).join(word).exists()).map(|word| format!("{}: {word}", file.display())),
        );
    }
    assert!(gone.is_empty(), "pages that do not exist:\n{}", gone.join("\n"));
}

fn all_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { all_files(&path, found) } else { found.push(path) }
    }
}

/// The options that a command's help lists are those of its section on the page of the command line, and help
/// has no signs of mark-up.
#[test]
fn the_command_line_page_lists_every_option() {
    let text = text(Path::new("docs/reference/command-line.md"));
    for command in ["run", "plot", "render", "inspect", "mesh", "experiment"] {
        let section = text.split(&format!("## isobar {command}\n")).nth(1).expect("a section");
        let section = section.split("\n## ").next().expect("a section");
        let names: &[&str] = match command {
            "experiment" => &[
                "planar-gripper",
                "cube-stacking",
                "time-step-study",
                "plan",
                "pancake-flip",
                "spatula-slip",
                "planar-push",
                "prehensile-push",
                "spinning-disk",
                "laws",
                "step-error",
                "random-drops",
                "cube-tosses",
            ],
            _ => &[""],
        };
        let mut known = BTreeSet::new();
        for name in names.iter().filter(|name| command != "experiment" || !name.is_empty()) {
            let arguments = [command, name, "--help"];
            let arguments = arguments.iter().filter(|argument| !argument.is_empty());
            let output = Command::new(env!("CARGO_BIN_EXE_isobar")).args(arguments).output().expect("help");
            let help = String::from_utf8(output.stdout).expect("text");
            assert!(!help.contains('\\'), "isobar {command} {name} --help shows mark-up:\n{help}");
            known.extend(options(&help));
        }
        known.remove("--help");
        assert_eq!(options(section), known, "options of isobar {command}: the page (left), --help (right)");
    }
}

/// The words of a text that are options.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "`,[]()=".contains(c));
    words
        .filter(|word| word.starts_with("--") && word.len() > 3)
        .map(|word| word.trim_end_matches(['.', ';', ':']).to_owned())
        .collect()
}

/// Tables, headings, pictures and equations may be longer: they cannot be broken.
#[test]
fn prose_fits_the_columns() {
    let mut long = Vec::new();
    for page in pages().iter().filter(|page| page.starts_with("docs") || page.ends_with("README.md")) {
        let text = text(page);
        for (number, line) in parts(&text).1 {
            let breakable = !line.starts_with(['|', '#', '!']) && !line.starts_with("    ");
            if breakable && line.chars().count() > COLUMNS {
                long.push(format!("{}:{number}", page.display()));
            }
        }
    }
    assert!(long.is_empty(), "lines over {COLUMNS} columns:\n{}", long.join("\n"));
}

/// Whether `line` is `pattern` with anything in the place of each …; spaces at the ends do not count.
fn fits(line: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.trim().split('…').collect();
    let Some((first, rest)) = parts.split_first() else { return false };
    let Some(mut left) = line.trim().strip_prefix(first) else { return false };
    let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
    for part in middle {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// A fresh folder in which a page's commands run as in the repository: its folders are linked.
fn folder(page: &Path) -> PathBuf {
    let name = page.display().to_string().replace(['/', '.'], "_");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    for linked in ["config", "urdf", "meshes", "controllers", "scripts", "tests", "package.xml"] {
        std::os::unix::fs::symlink(Path::new(ROOT).join(linked), folder.join(linked)).expect("a link");
    }
    folder
}

/// Runs a block in bash, where `isobar` is the program of this build. Returns its output, and whether it
/// succeeded.
fn run(block: &Block, folder: &Path) -> (String, bool) {
    let program = Path::new(env!("CARGO_BIN_EXE_isobar")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let script = format!("exec 2>&1; set -eo pipefail\n{}", block.text);
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(folder).env("PATH", path).output().expect("bash");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

/// Runs the blocks of one page in their order.
fn run_page(page: &Path) -> usize {
    let text = text(page);
    let (blocks, _) = parts(&text);
    let folder = folder(page);
    // The output of the last commands, if they were run.
    let (mut printed, mut count) = (None::<String>, 0);
    for block in &blocks {
        let at = format!("{}:{}", page.display(), block.line);
        let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
        match words[..] {
            [] | ["rust" | "math" | "toml" | "yaml" | "xml" | "python"] => {}
            ["sh", "setup" | "ros"] | ["sh", "ros", "background"] => printed = None,
            ["yaml" | "xml" | "python", name] => fs::write(folder.join(name), &block.text).expect("written"),
            ["sh"] | ["sh", "fails"] => {
                let (output, good) = run(block, &folder);
                assert!(
                    good == (words.len() == 1),
                    "{at}: the commands end with success: {good}\n{}\n{output}",
                    block.text
                );
                count += block.text.lines().count();
                printed = Some(output);
            }
            ["text", "output"] => {
                let Some(printed) = &printed else { continue };
                for line in block.text.lines() {
                    assert!(
                        printed.lines().any(|other| fits(other, line)),
                        "{at}: no line is like `{line}` in\n{printed}"
                    );
                }
            }
            _ => panic!("{at}: a block of the kind {words:?}; the head of this file lists the kinds"),
        }
    }
    count
}

fn run_shelf(shelf: &str) {
    let shelf_pages: Vec<_> = pages().into_iter().filter(|page| page.starts_with(shelf)).collect();
    let count: usize = shelf_pages.iter().map(|page| run_page(page)).sum();
    assert!(count > 0, "{shelf}: no command was run");
}

#[test]
fn commands_of_tutorials_run() {
    run_shelf(RUN[0]);
}

#[test]
fn commands_of_how_to_pages_run() {
    run_shelf(RUN[1]);
}

#[test]
fn commands_of_theory_pages_run() {
    run_shelf(RUN[2]);
}

#[test]
fn commands_of_reference_pages_and_of_the_readme_run() {
    run_shelf(RUN[3]);
    run_shelf(RUN[4]);
}

/// Commands that take too long for a test, such as whole experiments: every option exists.
#[test]
fn options_of_all_commands_on_pages_exist() {
    let mut count = 0;
    for page in pages() {
        let text = text(&page);
        for block in parts(&text).0.iter().filter(|block| block.words.is_empty()) {
            for line in block.text.lines().filter(|line| line.starts_with("isobar ")) {
                let mut words: Vec<&str> = line.split(" #").next().unwrap_or_default().split_whitespace().collect();
                words.remove(0);
                let subcommands = if words.first() == Some(&"experiment") { 2 } else { 1 };
                let command = words[..subcommands.min(words.len())].iter().chain([&"--help"]);
                let output = Command::new(env!("CARGO_BIN_EXE_isobar")).args(command).output().expect("help");
                let at = format!("{}:{}: {line}", page.display(), block.line);
                assert!(output.status.success(), "{at}");
                let known = options(&String::from_utf8_lossy(&output.stdout));
                let used = words.iter().filter(|word| word.starts_with("--"));
                used.for_each(|option| assert!(known.contains(*option), "{at}: there is no {option}"));
                count += 1;
            }
        }
    }
    assert!(count > 5, "only {count} commands: are they still found?");
}

/// These tests do not repeat the set-up; its commands are the ones that the scripts of the repository use
/// themselves.
#[test]
fn setup_commands_are_known() {
    let known = [
        "cargo build --release",
        "export PATH=\"$PWD/target/release:$PATH\"",
        ". scripts/ros2-env",
        "scripts/build",                             // as scripts/demo
        "cargo run --release --example closed_loop", // tests/it/examples.rs
    ];
    for page in pages() {
        let text = text(&page);
        for block in parts(&text).0.iter().filter(|block| block.words == ["sh", "setup"]) {
            for line in block.text.lines() {
                assert!(known.contains(&line), "{}:{}: `{line}` is run by no test", page.display(), block.line);
            }
        }
    }
}

/// Law of the theory page: a ball that rolls without dissipation slows as exp(-(5/7) g dt t/R). The scene is
/// the page's; the facets of its mesh (4 mm of a radius of 50 mm) and the first bounce from 0.2 mm leave 2 %
/// of the rate.
#[test]
fn rolling_slows_as_the_page_says() {
    let page = Path::new("docs/theory/dynamic-step.md");
    let (folder, text) = (folder(Path::new("rolling")), text(page));
    let scene =
        parts(&text).0.into_iter().find(|block| block.words == ["yaml", "rolling.yaml"]).expect("the page's scene");
    fs::write(folder.join("rolling.yaml"), scene.text).expect("written");
    for step in [1e-3, 2e-3] {
        let text = format!("isobar run rolling.yaml --duration 2 --step {step} --csv rolling.csv --force --quiet\n");
        let (output, good) = run(&Block { words: Vec::new(), line: 0, text }, &folder);
        assert!(good, "{output}");
        let table = fs::read_to_string(folder.join("rolling.csv")).expect("a table");
        let mut rows = table.lines().filter(|line| !line.starts_with('#'));
        let column = rows.next().expect("a head").split(',').position(|name| name == "ball.vx").expect("the speed");
        let speeds: Vec<f64> =
            rows.map(|row| row.split(',').nth(column).expect("a value").parse().expect("a number")).collect();
        let at = |time: f64| speeds[(time / step).round() as usize];
        let (rate, law) = ((at(0.5) / at(2.0)).ln() / 1.5, 5.0 / 7.0 * 9.81 * step / 0.05);
        assert!((rate / law - 1.0).abs() < 0.02, "step {step}: the speed falls by {rate} a second, the law says {law}");
    }
}
