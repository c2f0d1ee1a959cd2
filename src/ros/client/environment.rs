//! Faults of the environment with which the client library does not start, and which its errors do not name.

use std::path::{Path, PathBuf};

/// The likely reason why the client library does not start, and the remedy. The variables of the environment
/// are read with `get`. `can_write` returns whether files can be written to a folder, which may be made
/// first.
pub(super) fn fault(get: impl Fn(&str) -> Option<String>, can_write: impl Fn(&Path) -> bool) -> Option<String> {
    let get = |name: &str| get(name).filter(|value| !value.is_empty());
    if get("ROS_SECURITY_ENABLE").is_some_and(|value| value == "true") {
        return Some(
            "ROS_SECURITY_ENABLE is true: name a keystore with the keys of this node in ROS_SECURITY_KEYSTORE, or set \
             ROS_SECURITY_ENABLE to false"
                .to_owned(),
        );
    }
    // The folder of log files, as rcl_logging finds it.
    let in_home = || get("HOME").map(|home| Path::new(&home).join(".ros"));
    let in_ros_home = || get("ROS_HOME").map(PathBuf::from).or_else(in_home).map(|home| home.join("log"));
    match get("ROS_LOG_DIR").map(PathBuf::from).or_else(in_ros_home) {
        None => Some("HOME is not set: set ROS_LOG_DIR to a folder that takes ROS's log files".to_owned()),
        Some(folder) if !can_write(&folder) => {
            Some(format!("{} takes no files: set ROS_LOG_DIR to a folder that takes ROS's log files", folder.display()))
        }
        Some(_) => None,
    }
}

/// Whether files can be written to `folder`, which is made if it does not exist.
pub(super) fn takes_files(folder: &Path) -> bool {
    let file = folder.join(format!(".isobar_{}", std::process::id()));
    let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, ""));
    // Only an empty file is left if it cannot be removed.
    let _ = std::fs::remove_file(&file);
    made.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(given: &[(&str, &str)], writable: &str) -> Option<String> {
        let get = |name: &str| given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        fault(get, |folder| folder == Path::new(writable))
    }

    #[test]
    fn the_folder_of_logs_and_the_keys_are_named() {
        assert_eq!(fault_of(&[("HOME", "/me")], "/me/.ros/log"), None);
        assert_eq!(fault_of(&[("HOME", "/me"), ("ROS_HOME", "/ros")], "/ros/log"), None);
        assert_eq!(fault_of(&[("HOME", "/me"), ("ROS_HOME", "/ros"), ("ROS_LOG_DIR", "/logs")], "/logs"), None);
        let text = fault_of(&[("HOME", "/me"), ("ROS_LOG_DIR", "/logs")], "/me/.ros/log").unwrap_or_default();
        assert!(text.starts_with("/logs takes no files: set ROS_LOG_DIR"), "{text}");
        for given in [&[][..], &[("HOME", "")]] {
            assert!(fault_of(given, "/").is_some_and(|text| text.contains("HOME is not set")));
        }
        let secure = [("HOME", "/me"), ("ROS_SECURITY_ENABLE", "true")];
        assert!(fault_of(&secure, "/me/.ros/log").is_some_and(|text| text.contains("ROS_SECURITY_KEYSTORE")));
    }
}
