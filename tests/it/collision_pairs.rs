//! The pairs of links that may touch.

use std::collections::BTreeSet;
use std::path::Path;

use isobar::io::package::PackageMap;
use isobar::io::scene_file;

use crate::scene_file::chain;

fn link(name: &str, shape: &str) -> String {
    format!(
        "<link name='{name}'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial>\
         <collision><geometry>{shape}</geometry></collision></link>"
    )
}

fn joint(kind: &str, parent: &str, child: &str) -> String {
    let name = format!("{parent}_{child}");
    format!(
        "<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/><axis xyz='0 1 0'/>\
         <limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    )
}

/// The pairs of links of a robot file that may touch, on a base of that kind. Overlapping links keep their
/// contact.
fn pairs(file: &Path, base: &str, packages: &PackageMap) -> BTreeSet<String> {
    let text = format!(
        "contact: {{ overlapping_links: keep }}\nmodels: [{{ name: r, urdf: '{}', {base}: {{}} }}]\n",
        file.display()
    );
    let loaded =
        scene_file::load_str(&text, Path::new("scene.yaml"), packages).unwrap_or_else(|e| panic!("{}", chain(&e)));
    let scene = &loaded.scene;
    let name = |geometry| scene.body_name(scene.geometries()[geometry].body).trim_start_matches("r_").to_owned();
    scene.contact_pairs().iter().map(|pair| format!("{} {}", name(pair.A), name(pair.B))).collect()
}

/// The links, each a box, and the joints (kind, parent, child) of a robot.
fn boxes(links: &[&str], joints: &[(&str, &str, &str)]) -> String {
    let links = links.iter().map(|name| link(name, "<box size='0.1 0.1 0.1'/>"));
    links.chain(joints.iter().map(|(kind, parent, child)| joint(kind, parent, child))).collect()
}

fn pairs_of(test: &str, robot: &str, base: &str) -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pairs_{test}_{}.urdf", std::process::id()));
    std::fs::write(&file, format!("<robot name='{test}'>{robot}</robot>")).expect("a file");
    let found = pairs(&file, base, &PackageMap::new());
    std::fs::remove_file(&file).expect("a file");
    found
}

/// Links on both sides of a joint, with what is fixed to them, do not touch: a rotor that is fixed to the hip
/// lies inside the trunk, and a camera on the trunk beside the hip. The same holds with the trunk on a fixed
/// base. The knee may touch all but the hip and its rotor.
#[test]
fn the_same_links_touch_on_a_fixed_and_on_a_free_base() {
    let joints = [
        ("fixed", "trunk", "camera"),
        ("revolute", "trunk", "hip"),
        ("fixed", "hip", "rotor"),
        ("revolute", "hip", "knee"),
    ];
    let robot = boxes(&["trunk", "camera", "hip", "rotor", "knee"], &joints);
    let expected = ["trunk knee", "camera knee"].map(str::to_owned).into();
    assert_eq!(pairs_of("legged", &robot, "free"), expected, "free");
    assert_eq!(pairs_of("legged", &robot, "weld"), expected, "welded");
    // A link between them, as many files have it, changes nothing
    let footprint = format!("<link name='footprint'/>{robot}{}", joint("fixed", "footprint", "trunk"));
    assert_eq!(pairs_of("footprint", &footprint, "free"), expected, "free, with a root below the trunk");
    assert_eq!(pairs_of("footprint", &footprint, "weld"), expected, "welded, with a root below the trunk");
}

/// What stands on the world is not welded to a robot on the world: a cart on rails touches the floor, and the
/// arm on it, also if one file holds them all.
#[test]
fn links_touch_what_stands_beside_their_robot_on_the_world() {
    let joints = [
        ("fixed", "world", "floor"),
        ("fixed", "world", "base"),
        ("revolute", "base", "arm"),
        ("prismatic", "world", "cart"),
    ];
    let room = format!("<link name='world'/>{}", boxes(&["floor", "base", "arm", "cart"], &joints));
    let expected = ["floor arm", "floor cart", "base cart", "arm cart"].map(str::to_owned).into();
    assert_eq!(pairs_of("room", &room, "weld"), expected);
}

/// Real input: legged robots of example-robot-data with rotors, sensors and covers fixed to their links.
#[test]
fn real_robots_have_the_same_pairs_on_a_fixed_and_on_a_free_base() {
    let Some(folder) = crate::golden::robots_of_others() else { return };
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &folder);
    for robot in ["b1_description/urdf/b1.urdf", "romeo_description/urdf/romeo_small.urdf"] {
        let file = folder.join("robots").join(robot);
        let (free, welded) = (pairs(&file, "free", &packages), pairs(&file, "weld", &packages));
        let differ: Vec<&String> = free.symmetric_difference(&welded).collect();
        assert!(differ.is_empty(), "{robot}: {differ:?}");
    }
}

/// Models on one table are not welded to each other: a carriage meets the stop beside its rail, on a table as
/// on the world.
#[test]
fn models_on_one_table_touch_each_other() {
    let slider = format!("<link name='rail'/>{}", boxes(&["carriage"], &[("prismatic", "rail", "carriage")]));
    let robots = [("table", boxes(&["top"], &[])), ("slider", slider), ("stop", boxes(&["stop"], &[]))];
    let files = robots.map(|(name, robot)| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("table_{name}_{}.urdf", std::process::id()));
        std::fs::write(&file, format!("<robot name='{name}'>{robot}</robot>")).expect("a file");
        file
    });
    let [table, slider, stop] = files.each_ref().map(|file| file.display().to_string());
    for weld in ["{}", "{ parent: top }"] {
        let text = format!(
            "contact: {{ overlapping_links: keep }}\nmodels:\n  - {{ name: t, urdf: '{table}', weld: {{}} }}\n  \
             - {{ name: a, urdf: '{slider}', weld: {weld} }}\n  - {{ name: b, urdf: '{stop}', weld: {weld} }}\n"
        );
        let loaded = scene_file::load_str(&text, Path::new("scene.yaml"), &PackageMap::new())
            .unwrap_or_else(|e| panic!("{}", chain(&e)));
        let name = |geometry| loaded.scene.body_name(loaded.scene.geometries()[geometry].body);
        let touch =
            loaded.scene.contact_pairs().iter().any(|pair| [name(pair.A), name(pair.B)] == ["carriage", "stop"]);
        assert!(touch, "weld: {weld}");
    }
    files.iter().for_each(|file| std::fs::remove_file(file).expect("a file"));
}
