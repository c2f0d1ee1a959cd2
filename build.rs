//! Finds the optional ROS 2 packages of the node in the environment: `isobar_tf2` is set when tf2_msgs is installed.
//! `ISOBAR_WITHOUT=tf2_msgs` leaves it out all the same, to check that the node builds without.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(isobar_tf2)");
    println!("cargo::rerun-if-env-changed=AMENT_PREFIX_PATH");
    println!("cargo::rerun-if-env-changed=ISOBAR_WITHOUT");
    if std::env::var_os("CARGO_FEATURE_ROS").is_none() {
        return;
    }
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let without = std::env::var("ISOBAR_WITHOUT").unwrap_or_default();
    let installed = |package: &str| {
        if without.split(',').any(|name| name == package) {
            return false;
        }
        let marker = Path::new("share/ament_index/resource_index/packages").join(package);
        std::env::split_paths(&prefixes).any(|prefix| prefix.join(&marker).is_file())
    };
    if installed("tf2_msgs") {
        println!("cargo::rustc-cfg=isobar_tf2");
    }
}
