//! Finds the optional ROS 2 packages of the node in the environment: `isobar_tf2` is set when tf2_msgs is installed.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(isobar_tf2)");
    println!("cargo::rerun-if-env-changed=AMENT_PREFIX_PATH");
    println!("cargo::rerun-if-env-changed=IDL_PACKAGE_FILTER");
    if std::env::var_os("CARGO_FEATURE_ROS").is_none() {
        return;
    }
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let installed = |package: &str| {
        let marker = Path::new("share/ament_index/resource_index/packages").join(package);
        std::env::split_paths(&prefixes).any(|prefix| prefix.join(&marker).is_file())
    };
    if installed("tf2_msgs") {
        println!("cargo::rustc-cfg=isobar_tf2");
    }
}
