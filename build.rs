//! Finds the optional ROS 2 packages of the node in the environment, and sets a cfg for each that is installed.
//! `ISOBAR_WITHOUT=tf2_msgs,control_msgs` leaves packages out all the same, to check that the node builds without.

use std::path::{Path, PathBuf};

/// Packages, and the cfg that each sets.
const OPTIONAL: [(&str, &str); 4] = [
    ("tf2_msgs", "isobar_tf2"),
    ("control_msgs", "isobar_control"),
    ("ros_gz_interfaces", "isobar_gazebo"),
    ("simulation_interfaces", "isobar_simulation"),
];
/// Version 2 of simulation_interfaces, which has other fields than version 1.
const SIMULATION_2: &str = "isobar_simulation_2";
/// A simulation_interfaces that spawns several entities at once, as 1.4 and later ones do.
const SPAWN_ENTITIES: &str = "isobar_spawn_entities";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for cfg in OPTIONAL.iter().map(|(_, cfg)| *cfg).chain([SIMULATION_2, SPAWN_ENTITIES]) {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
    }
    println!("cargo::rerun-if-env-changed=AMENT_PREFIX_PATH");
    println!("cargo::rerun-if-env-changed=ISOBAR_WITHOUT");
    if std::env::var_os("CARGO_FEATURE_ROS").is_none() {
        return;
    }
    let without = std::env::var("ISOBAR_WITHOUT").unwrap_or_default();
    for (package, cfg) in OPTIONAL {
        let left_out = without.split(',').any(|name| name == package);
        let Some(share) = share_of(package).filter(|_| !left_out) else { continue };
        println!("cargo::rustc-cfg={cfg}");
        if cfg == "isobar_simulation" {
            let spawn = share.join("srv/SpawnEntity.srv");
            println!("cargo::rerun-if-changed={}", spawn.display());
            if std::fs::read_to_string(&spawn).is_ok_and(|text| text.contains("entity_resource")) {
                println!("cargo::rustc-cfg={SIMULATION_2}");
            }
            if share.join("srv/SpawnEntities.srv").is_file() {
                println!("cargo::rustc-cfg={SPAWN_ENTITIES}");
            }
        }
    }
}

/// The share folder of an installed package.
fn share_of(package: &str) -> Option<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let marker = Path::new("share/ament_index/resource_index/packages").join(package);
    let prefix = std::env::split_paths(&prefixes).find(|prefix| prefix.join(&marker).is_file())?;
    Some(prefix.join("share").join(package))
}
