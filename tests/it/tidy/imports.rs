//! Cycles of imports between the files of the library.
//!
//! A file imports another one when it names something that is defined there: in a `use`, or by a path in its
//! code. Names are followed through `pub use` to the file that defines them. A declared module (`mod`) or a
//! re-export (`pub use`) is no import, unless the file uses the name itself. Tests inside a file are left
//! out.

use std::collections::{BTreeMap, BTreeSet};

/// The largest number of re-exports in a row.
const HOPS_MAX: usize = 12;

type Path = Vec<String>;

/// One name that a `use` brings into a file.
struct Import {
    path: Path,
    name: String,
    is_public: bool,
}

/// A file of the library: what it imports by `use`, and the paths in the rest of its code.
struct File {
    name: String,
    imports: Vec<Import>,
    paths: Vec<Path>,
}

fn segments(path: &str) -> Path {
    path.split("::").map(|segment| segment.trim().to_owned()).filter(|segment| !segment.is_empty()).collect()
}

/// The module of a file, from the crate's root: `src/a/b.rs` and `src/a/b/mod.rs` are a::b.
fn module_of(file: &str) -> Path {
    let inside = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut module: Path = inside.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

/// The names in the tree of a `use`, with their paths.
fn expand(prefix: &str, tree: &str, is_public: bool, out: &mut Vec<Import>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
        let mut path = segments(&format!("{prefix}{path}"));
        path.pop_if(|last| last == "self");
        let name = alias.or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
        out.push(Import { path, name, is_public });
        return;
    };
    let prefix = format!("{prefix}{}", &tree[..open]);
    let (mut depth, mut from) = (0, open + 1);
    for (at, c) in tree.char_indices().skip_while(|(at, _)| *at <= open) {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                if !tree[from..at].trim().is_empty() {
                    expand(&prefix, &tree[from..at], is_public, out);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// The paths with `::` in code, and single names.
fn paths(code: &str) -> Vec<Path> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(|c| !word(c)).map(|path| segments(&path.replace(':', "::"))).filter(|path| !path.is_empty()).collect()
}

impl File {
    fn read(name: &str, code: &str) -> Self {
        let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let (mut imports, mut rest, mut statement) = (Vec::new(), String::new(), String::new());
        for line in code.lines() {
            let declared = line.trim_start();
            let starts = declared.starts_with("use ") || declared.starts_with("pub") && declared.contains(" use ");
            if starts || !statement.is_empty() {
                statement.push_str(declared);
                if let Some((text, _)) = statement.split_once(';') {
                    let (visibility, tree) = text.split_once("use ").unwrap_or_default();
                    expand("", tree, !visibility.is_empty(), &mut imports);
                    statement.clear();
                }
            } else {
                rest.push_str(line);
                rest.push('\n');
            }
        }
        Self { name: name.to_owned(), imports, paths: paths(&rest) }
    }
}

/// The target of a path.
enum Target<'a> {
    Module,
    File(&'a str),
}

struct Library {
    files: BTreeMap<Path, File>,
}

impl Library {
    fn new(sources: &BTreeMap<String, String>) -> Self {
        let library = sources.iter().filter(|(name, _)| !name.starts_with("src/bin/"));
        Self { files: library.map(|(name, code)| (module_of(name), File::read(name, code))).collect() }
    }

    fn child(&self, module: &[String], name: &str) -> Option<Path> {
        let child: Path = module.iter().cloned().chain([name.to_owned()]).collect();
        self.files.contains_key(&child).then_some(child)
    }

    /// The module where a path in `module` starts, and what is left of the path.
    fn start(&self, module: &[String], path: &[String], hops: usize) -> Option<(Path, Path)> {
        let mut at = module.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Path::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            first if self.child(module, first).is_some() => {}
            first => {
                let import = self.files.get(module)?.imports.iter().find(|import| import.name == first)?;
                let whole: Path = import.path.iter().chain(&path[1..]).cloned().collect();
                return if hops == 0 || whole == path { None } else { self.start(module, &whole, hops - 1) };
            }
        }
        Some((at, rest.to_vec()))
    }

    /// The file that defines what a path in `module` names.
    fn resolve(&self, module: &[String], path: &[String], hops: usize) -> Option<Target<'_>> {
        let (mut at, rest) = self.start(module, path, HOPS_MAX)?;
        let mut rest = rest.as_slice();
        while let Some(child) = rest.first().and_then(|name| self.child(&at, name)) {
            (at, rest) = (child, &rest[1..]);
        }
        let Some(name) = rest.first() else { return Some(Target::Module) };
        let file = self.files.get(&at)?;
        let through = |import: &Import| {
            let whole: Path = import.path.iter().chain(&rest[1..]).cloned().collect();
            self.resolve(&at, &whole, hops - 1)
        };
        let handed_on = file.imports.iter().filter(|import| import.name == *name && hops > 0).find_map(through);
        Some(handed_on.unwrap_or(Target::File(&file.name)))
    }

    /// The files that each file imports, and a name that it takes from each.
    fn edges(&self) -> BTreeMap<&str, BTreeMap<&str, String>> {
        let edges_of = |(module, file): (&Path, &File)| {
            let names: BTreeSet<&str> = file.paths.iter().map(|path| path[0].as_str()).collect();
            let used = file.imports.iter().filter(|import| !import.is_public || names.contains(import.name.as_str()));
            let all = used.map(|import| &import.path).chain(file.paths.iter().filter(|path| path.len() > 1));
            let mut found = BTreeMap::new();
            for path in all {
                if let Some(Target::File(other)) = self.resolve(module, path, HOPS_MAX)
                    && other != file.name
                {
                    found.entry(other).or_insert_with(|| path.join("::"));
                }
            }
            found
        };
        self.files.iter().map(|(module, file)| (self.files[module].name.as_str(), edges_of((module, file)))).collect()
    }
}

/// The files that `from` reaches, itself only if a cycle leads back to it.
fn reached<'a>(edges: &BTreeMap<&'a str, BTreeMap<&'a str, String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        open.extend(edges[file].keys().filter(|next| found.insert(**next)));
    }
    found
}

/// The imports that lie on a cycle: (file, file that it imports, path of the name).
fn cycles(sources: &BTreeMap<String, String>) -> Vec<(String, String, String)> {
    let library = Library::new(sources);
    let edges = library.edges();
    let reach: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reached(&edges, file))).collect();
    let mut found = Vec::new();
    for (file, imports) in &edges {
        for (other, path) in imports.iter().filter(|(other, _)| reach[*other].contains(file)) {
            found.push(((*file).to_owned(), (*other).to_owned(), path.clone()));
        }
    }
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let found = cycles(&super::all_sources());
    let named: Vec<String> =
        found.iter().map(|(file, other, path)| format!("{file} imports {other} ({path})")).collect();
    assert!(named.is_empty(), "cycles of imports; move their common part to a separate file: {named:#?}");
}

/// Oracle: files written for the purpose. `b` imports `A` of `a` through a re-export of the root, and `a`
/// calls `b` by a path. The root only declares and re-exports, and `c` is imported only by a test.
#[test]
fn a_circle_is_found_through_re_exports_and_paths() {
    let source = |name: &str, code: &str| (format!("src/{name}"), code.to_owned());
    let files = [
        source("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::{A, Other as Third};\n"),
        source("a.rs", "pub struct A;\npub fn f() {\n    crate::b::g();\n}\n"),
        source("b/mod.rs", "mod inner;\nuse super::{\n    A,\n};\npub use inner::B;\npub fn g() {}\n"),
        source("b/inner.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}\n"),
        source("c.rs", "use crate::b::B;\npub struct C;\n"),
    ];
    let sources: BTreeMap<_, _> = files.into_iter().collect();
    let found = cycles(&sources);
    let expected = [("src/a.rs", "src/b/mod.rs"), ("src/b/mod.rs", "src/a.rs")];
    let pairs: Vec<_> = found.iter().map(|(file, other, _)| (file.as_str(), other.as_str())).collect();
    assert_eq!(pairs, expected);
    let mut open = sources.clone();
    open.insert("src/a.rs".to_owned(), "pub struct A;\n".to_owned());
    assert!(cycles(&open).is_empty());
}
