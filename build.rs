//! Finds the optional ROS 2 packages of the node in the environment, and sets a cfg for each that is
//! installed. `ISOBAR_WITHOUT=tf2_msgs,control_msgs` leaves packages out even if installed, to check that the
//! node builds without them.

use std::path::{Path, PathBuf};

/// Packages, and the cfg that each sets.
const OPTIONAL: [(&str, &str); 4] = [
    ("tf2_msgs", "isobar_tf2"),
    ("control_msgs", "isobar_control"),
    ("ros_gz_interfaces", "isobar_gazebo"),
    ("simulation_interfaces", "isobar_simulation"),
];
/// Differences between versions of simulation_interfaces, each identified by a field: file, field, cfg.
/// Version 2.0 has the first of them, 2.1 all, 1.x none.
const FIELDS: [(&str, &str, &str); 3] = [
    ("srv/SpawnEntity.srv", "entity_resource", "isobar_entity_resource"),
    ("srv/LoadWorld.srv", "world_resource", "isobar_world_resource"),
    ("srv/SetEntityState.srv", "set_pose", "isobar_set_parts"),
];
/// The cfg of a simulation_interfaces with a service that spawns several entities at once: version 1.4 and
/// later of version 1, and version 2.1.
const SPAWN_ENTITIES: &str = "isobar_spawn_entities";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let standard = FIELDS.iter().map(|(_, _, cfg)| *cfg).chain([SPAWN_ENTITIES]);
    for cfg in OPTIONAL.iter().map(|(_, cfg)| *cfg).chain(standard) {
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
        if cfg == "isobar_simulation" && !set_version_cfgs(&share) {
            println!("cargo::warning=simulation_interfaces is older than 1.1, which is not supported: left out");
            continue;
        }
        println!("cargo::rustc-cfg={cfg}");
    }
}

/// Sets the cfgs of the installed simulation_interfaces; returns false for a version before 1.1, which has no
/// services for worlds.
fn set_version_cfgs(share: &Path) -> bool {
    if !share.join("srv/LoadWorld.srv").is_file() {
        return false;
    }
    for (file, field, cfg) in FIELDS {
        let file = share.join(file);
        println!("cargo::rerun-if-changed={}", file.display());
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        // The name of a field is the second word of its line; comments may contain it, too.
        let declares = |line: &str| !line.starts_with('#') && line.split_whitespace().nth(1) == Some(field);
        if text.lines().any(declares) {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
    if share.join("srv/SpawnEntities.srv").is_file() {
        println!("cargo::rustc-cfg={SPAWN_ENTITIES}");
    }
    true
}

/// The share folder of an installed package.
fn share_of(package: &str) -> Option<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let marker = Path::new("share/ament_index/resource_index/packages").join(package);
    let prefix = std::env::split_paths(&prefixes).find(|prefix| prefix.join(&marker).is_file())?;
    Some(prefix.join("share").join(package))
}
