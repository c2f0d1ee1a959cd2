//! Resolution of mesh addresses: `package://name/path` (`model://` means the same), `file://path`, or a path
//! relative to the robot file. In `file://` addresses, `%20` is a space, and the host may be `localhost`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The depth of the search for a package below an entry of ROS_PACKAGE_PATH, because ROS 1 workspaces nest
/// (src/stack/package).
const PACKAGE_PATH_DEPTH: usize = 3;

/// The locations of packages: explicit entries first, then ROS 2 prefixes, then ROS 1 source folders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackageMap {
    /// Package name to its share folder.
    explicit: BTreeMap<String, PathBuf>,
    /// Install prefixes, as in AMENT_PREFIX_PATH.
    prefixes: Vec<PathBuf>,
    /// Folders that are or contain packages, as in ROS_PACKAGE_PATH.
    source_folders: Vec<PathBuf>,
    /// The folders outside of packages that addresses may lead to; `None` allows all.
    bounds: Option<Vec<PathBuf>>,
    /// The folders of the files that were found.
    used: Used,
}

/// Folders that clones of a map share. Comparisons of maps ignore them.
#[derive(Clone, Debug, Default)]
struct Used(Arc<Mutex<BTreeSet<PathBuf>>>);

impl PartialEq for Used {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The reason why an address does not lead to a file.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ResolveError {
    /// No candidate exists.
    #[error("{}", not_found(uri, tried))]
    NotFound {
        /// The address as written.
        uri: String,
        /// All paths that were tried.
        tried: Vec<PathBuf>,
    },
    /// The address leads to a file that may not be read.
    #[error(
        "`{uri}`: files are read from the scene's folder, those of the files that it names, packages, and the folders of the \
         parameter `file_access`"
    )]
    OutOfBounds {
        /// The address as written.
        uri: String,
    },
    /// The address cannot be understood.
    #[error("`{uri}`: {reason}; use package://NAME/PATH, file:///PATH or a path relative to the robot file")]
    Unsupported {
        /// The address as written.
        uri: String,
        /// The fault.
        reason: &'static str,
    },
}

/// The message of an address without a file.
fn not_found(uri: &str, tried: &[PathBuf]) -> String {
    if let Some(folder) = tried.iter().find(|path| path.is_dir()) {
        return format!("`{uri}` is a folder ({}); name a file in it", folder.display());
    }
    match uri.contains("://") && !uri.starts_with("file://") {
        true => format!(
            "`{uri}` is not found; tried: {}; add the package's prefix to AMENT_PREFIX_PATH, its folder to \
             ROS_PACKAGE_PATH, or give the folder with `--package NAME=PATH`",
            list(tried)
        ),
        false => format!("`{uri}` is not found; tried: {}; correct the path", list(tried)),
    }
}

fn list(tried: &[PathBuf]) -> String {
    if tried.is_empty() {
        return "nothing, since AMENT_PREFIX_PATH and ROS_PACKAGE_PATH name no folders and the robot file does not lie in \
                the package"
            .to_owned();
    }
    tried.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl PackageMap {
    /// A map without packages.
    pub fn new() -> Self {
        Self::default()
    }

    /// The packages of the environment variables AMENT_PREFIX_PATH and ROS_PACKAGE_PATH.
    pub fn from_environment() -> Self {
        let folders = |name: &str| match env::var_os(name) {
            Some(value) => split(&value),
            None => Vec::new(),
        };
        Self {
            explicit: BTreeMap::new(),
            prefixes: folders("AMENT_PREFIX_PATH"),
            source_folders: folders("ROS_PACKAGE_PATH"),
            ..Self::default()
        }
    }

    /// The map that finds files inside packages and `folders` only. It compares the text of paths, so links
    /// inside a folder may lead out of it.
    pub fn within(self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let bounds = folders.into_iter().map(|folder| absolute(&folder)).collect();
        Self { bounds: Some(bounds), used: Used::default(), ..self }
    }

    /// The folders of the files that this map and its clones have found.
    pub fn used_folders(&self) -> Vec<PathBuf> {
        self.used.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Whether a file or folder outside of packages may be read.
    pub fn is_within(&self, path: &Path) -> bool {
        let path = absolute(path);
        self.bounds.as_ref().is_none_or(|bounds| bounds.iter().any(|folder| path.starts_with(folder)))
    }

    /// Sets the folder of one package, which takes precedence over all other entries.
    pub fn insert(&mut self, name: impl Into<String>, folder: impl Into<PathBuf>) {
        self.explicit.insert(name.into(), folder.into());
    }

    /// Adds an install prefix, as in AMENT_PREFIX_PATH.
    pub fn add_prefix(&mut self, prefix: impl Into<PathBuf>) {
        self.prefixes.push(prefix.into());
    }

    /// Adds a folder that is or contains packages, as in ROS_PACKAGE_PATH.
    pub fn add_source_folder(&mut self, folder: impl Into<PathBuf>) {
        self.source_folders.push(folder.into());
    }

    /// The folder at `uri`, by the rules of [`PackageMap::resolve`] but without `model://`; `None` if no
    /// candidate exists or may be read.
    pub fn resolve_folder(&self, uri: &str, base_dir: &Path) -> Option<PathBuf> {
        let uri = uri.trim();
        let candidates = if let Some(rest) = uri.strip_prefix("package://") {
            let (name, relative) = rest.split_once('/').unwrap_or((rest, ""));
            if !is_inside(name, relative) {
                return None;
            }
            self.package_folders(name, base_dir).into_iter().map(|folder| folder.join(relative)).collect()
        } else if let Some(path) = uri.strip_prefix("file://") {
            file_paths(path).map(|path| base_dir.join(path)).collect()
        } else if uri.is_empty() || uri.contains("://") {
            Vec::new()
        } else {
            vec![base_dir.join(uri)]
        };
        let is_package = uri.starts_with("package://");
        let allowed = |folder: &PathBuf| is_package || self.is_within(folder);
        candidates.into_iter().filter(allowed).find(|folder| folder.is_dir())
    }

    /// The file at `uri`, in a robot file of the folder `base_dir`.
    ///
    /// # Errors
    /// The address is malformed, leads out of the allowed folders, or no candidate exists; the last error
    /// lists the paths that were tried.
    pub fn resolve(&self, uri: &str, base_dir: &Path) -> Result<PathBuf, ResolveError> {
        let unsupported = |reason| ResolveError::Unsupported { uri: uri.to_owned(), reason };
        let uri_trimmed = uri.trim();
        let package = uri_trimmed.strip_prefix("package://").or_else(|| uri_trimmed.strip_prefix("model://"));
        let tried = if let Some(rest) = package {
            let (name, relative) = rest
                .trim_start_matches('/')
                .split_once('/')
                .ok_or_else(|| unsupported("a package address needs a package and a path"))?;
            if !is_inside(name, relative) {
                return Err(unsupported("the address leads out of its package"));
            }
            self.package_folders(name, base_dir).into_iter().map(|folder| folder.join(relative)).collect()
        } else if let Some(path) = uri_trimmed.strip_prefix("file://") {
            file_paths(path).map(|path| base_dir.join(path)).collect()
        } else if uri_trimmed.contains("://") {
            return Err(unsupported("this kind of address is not supported"));
        } else if uri_trimmed.is_empty() {
            return Err(unsupported("the address is empty"));
        } else {
            vec![base_dir.join(uri_trimmed)]
        };
        let (tried, beyond): (Vec<PathBuf>, Vec<PathBuf>) =
            tried.into_iter().partition(|path| package.is_some() || self.is_within(path));
        match tried.iter().find(|path| path.is_file()) {
            Some(found) => {
                let folder = absolute(found.parent().unwrap_or(Path::new("")));
                self.used.0.lock().unwrap_or_else(PoisonError::into_inner).insert(folder);
                Ok(found.clone())
            }
            None if !beyond.is_empty() => Err(ResolveError::OutOfBounds { uri: uri.to_owned() }),
            None => Err(ResolveError::NotFound { uri: uri.to_owned(), tried }),
        }
    }

    /// The candidate folders for the package, best first.
    fn package_folders(&self, name: &str, base_dir: &Path) -> Vec<PathBuf> {
        if let Some(folder) = self.explicit.get(name) {
            return vec![folder.clone()];
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        for prefix in &self.prefixes {
            let marker = prefix.join("share/ament_index/resource_index/packages").join(name);
            if marker.exists() {
                folders.push(prefix.join("share").join(name));
            }
        }
        for folder in &self.source_folders {
            find_package(folder, name, PACKAGE_PATH_DEPTH, &mut folders);
        }
        // Without any setting: the robot file usually lies inside its package or beside it; a clone's
        // folder may have any name.
        for ancestor in absolute(base_dir).ancestors() {
            let beside = ancestor.join(name);
            if manifest_name(&ancestor.join("package.xml")).as_deref() == Some(name) {
                folders.push(ancestor.to_path_buf());
            } else if ancestor.file_name() == Some(OsStr::new(name)) && self.is_within(ancestor) {
                // A folder that only has a package's name may be anything.
                folders.push(ancestor.to_path_buf());
            } else if beside.is_dir() && self.is_within(&beside) {
                folders.push(beside);
            }
        }
        // The expected locations in prefixes without an index and in source folders. They also appear in the
        // error's list.
        folders.extend(self.prefixes.iter().map(|prefix| prefix.join("share").join(name)));
        folders.extend(self.source_folders.iter().map(|folder| folder.join(name)));
        let mut seen = BTreeSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        folders
    }
}

/// The paths that `file://` and `address` may mean: the one of RFC 8089, then the text as it is, which many
/// robot files have.
fn file_paths(address: &str) -> impl Iterator<Item = PathBuf> {
    let local = address.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(address);
    let decoded = percent_decoded(local).unwrap_or_else(|| local.to_owned());
    let plain = (decoded != local).then(|| PathBuf::from(local));
    std::iter::once(PathBuf::from(decoded)).chain(plain)
}

/// `text` with each `%20` and the like replaced by its byte; `None` if the result is not text without control
/// characters.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

fn split(value: &OsStr) -> Vec<PathBuf> {
    env::split_paths(value).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// The whole path, without `.` and `..`, by its text alone.
fn absolute(path: &Path) -> PathBuf {
    normalize(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// The path without `.` and `..`, by its text alone.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Whether `name` is the name of a folder, and no part of `relative` leads above its start.
fn is_inside(name: &str, relative: &str) -> bool {
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let mut depth = 0_i64;
    plain
        && Path::new(relative).components().all(|component| {
            match component {
                Component::Normal(_) => depth += 1,
                Component::ParentDir => depth -= 1,
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return false,
            }
            depth >= 0
        })
}

/// Appends `folder` if it is the package `name`, by its own name or that in its `package.xml`; otherwise
/// searches the folders below, down to `depth`.
fn find_package(folder: &Path, name: &str, depth: usize, found: &mut Vec<PathBuf>) {
    if folder.file_name() == Some(OsStr::new(name)) {
        found.push(folder.to_path_buf());
        return;
    }
    let manifest = folder.join("package.xml");
    if manifest.is_file() {
        // A package does not contain packages; its name may differ from its folder's.
        if manifest_name(&manifest).as_deref() == Some(name) {
            found.push(folder.to_path_buf());
        }
        return;
    }
    let direct = folder.join(name);
    if direct.is_dir() {
        found.push(direct);
        return;
    }
    if depth == 0 {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut below: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    below.sort();
    for path in below {
        find_package(&path, name, depth - 1, found);
    }
}

fn manifest_name(manifest: &Path) -> Option<String> {
    let root = super::xml::parse(&super::limits::read_text(manifest).ok()?).ok()?;
    root.child("name").map(|name| name.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the examples of RFC 8089 (localhost, or no host) and RFC 3986 (percent-encoding).
    #[test]
    fn addresses_of_files_are_decoded() {
        let paths = |address: &str| file_paths(address).map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(paths("/a/b.obj"), ["/a/b.obj"]);
        assert_eq!(paths("localhost/a/b.obj"), ["/a/b.obj"]);
        assert_eq!(paths("/my%20robot/%C3%A9.stl"), ["/my robot/é.stl", "/my%20robot/%C3%A9.stl"]);
        assert_eq!(paths("localhosts/a"), ["localhosts/a"]);
        for kept in ["/100%", "/a%2", "/a%zz", "/a%+1", "/a%00b", "/a%0Ab", "/a%FF"] {
            assert_eq!(paths(kept), [kept]);
        }
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
        let bounded = PackageMap::new().within([config.clone()]);
        for host in ["", "localhost"] {
            let at = |path: &str| bounded.resolve(&format!("file://{host}{}/{path}", config.display()), Path::new("/"));
            assert_eq!(at("spatula%5Fslip.yaml"), Ok(config.join("spatula_slip.yaml")));
            assert!(matches!(at("%2e%2e/README.md"), Err(ResolveError::OutOfBounds { .. })));
            assert!(bounded.resolve_folder(&format!("file://{host}{}", config.display()), Path::new("/")).is_some());
        }
    }

    /// A bounded map reads its folders and packages, and no folder that only has a package's name.
    #[test]
    fn a_bounded_map_leads_nowhere_else() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (config, urdf) = (root.join("config"), root.join("urdf"));
        let free = PackageMap::new();
        assert!(free.resolve("../urdf/spatula.urdf", &config).is_ok());
        assert_eq!(free.used_folders(), [absolute(&urdf)]);
        let bounded = PackageMap::new().within([config.clone()]);
        let out = |uri: &str| matches!(bounded.resolve(uri, &config), Err(ResolveError::OutOfBounds { .. }));
        assert!(bounded.resolve("spatula_slip.yaml", &config).is_ok());
        assert!(bounded.resolve("sub/../spatula_slip.yaml", &config).is_err(), "there is no such folder");
        assert!(out("../urdf/spatula.urdf") && out("/etc/passwd") && out("file:///etc/passwd") && out("a/../../x"));
        assert!(bounded.resolve("package://isobar/urdf/spatula.urdf", &config).is_ok(), "a package by its manifest");
        assert!(bounded.resolve("package://etc/passwd", &config).is_err(), "no package");
        assert!(
            bounded.resolve_folder("/etc", &config).is_none()
                && bounded.resolve_folder("package://etc", &config).is_none()
        );
        let wider = PackageMap::new().within([config.clone(), urdf]);
        assert!(wider.resolve("../urdf/spatula.urdf", &config).is_ok());
    }
}
