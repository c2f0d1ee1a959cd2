//! The files for MoveIt: the pairs of links that an SRDF leaves out of the check for collisions, against the
//! collision geometries of the robot in random configurations, and its named states.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

use isobar::io::package::PackageMap;
use isobar::io::srdf;
use isobar::io::urdf::{self, LoadOptions};
use isobar::multibody::{JointKind, State};
use isobar::robot::RobotDescription;
use isobar::scene::Scene;
use isobar::stepping::overlaps;

use crate::random::Random;
use crate::worlds::welded;

const ROBOTS: [&str; 2] = ["iiwa14_wsg50", "j2s7s300"];

/// Two links, in the order of their names.
type Pair = (String, String);

fn pair(a: &str, b: &str) -> Pair {
    if a < b { (a.to_owned(), b.to_owned()) } else { (b.to_owned(), a.to_owned()) }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn srdf_file(name: &str) -> PathBuf {
    root().join(format!("config/moveit/{name}/{name}.srdf"))
}

fn robot(name: &str) -> RobotDescription {
    let file = root().join(format!("urdf/{name}.urdf"));
    urdf::load_file(&file, &PackageMap::new(), &LoadOptions::default()).expect("a robot")
}

/// The robot in a scene, where welded links count as joined by a joint. A scene leaves out the contact
/// between a link and all neighbours of the links that are welded to it, and MoveIt does not.
fn loosened(robot: &RobotDescription) -> Scene {
    let mut robot = robot.clone();
    for joint in robot.joints.iter_mut().filter(|joint| joint.kind == JointKind::Fixed) {
        joint.kind = JointKind::Prismatic;
    }
    welded(&robot)
}

/// The disabled pairs with their reasons.
fn disabled(name: &str) -> BTreeMap<Pair, String> {
    let pairs = srdf::load_file(&srdf_file(name)).expect("an SRDF file").disabled_pairs;
    let count = pairs.len();
    let found: BTreeMap<_, _> = pairs.into_iter().map(|p| (pair(&p.link1, &p.link2), p.reason)).collect();
    assert_eq!(found.len(), count, "{name}: a pair is named twice");
    found
}

/// Links with collision geometries that are joined, directly or over links without any.
fn neighbours(robot: &RobotDescription) -> BTreeSet<Pair> {
    let is_solid = |link: &str| robot.link(link).is_some_and(|link| !link.collisions.is_empty());
    let parent = |link: &str| robot.joints.iter().find(|joint| joint.child == link).map(|joint| joint.parent.as_str());
    let mut found = BTreeSet::new();
    for link in robot.links.iter().filter(|link| is_solid(&link.name)) {
        let mut above = parent(&link.name);
        while above.is_some_and(|above| !is_solid(above)) {
            above = above.and_then(parent);
        }
        found.extend(above.map(|above| pair(above, &link.name)));
    }
    found
}

/// The pairs of links whose geometries overlap.
fn touching(scene: &Scene, state: &State) -> BTreeSet<Pair> {
    let link = |geometry| scene.body_name(scene.geometries()[geometry].body);
    overlaps(scene, state).iter().map(|overlap| pair(link(overlap.A), link(overlap.B))).collect()
}

/// A configuration within the limits; joints without limits turn by half a turn each way.
fn random_state(robot: &RobotDescription, scene: &Scene, random: &mut Random) -> State {
    let model = scene.model();
    let mut state = model.default_state();
    for joint in robot.joints.iter().filter(|joint| joint.kind.nv() == 1) {
        let (lower, upper) = (joint.limits.lower.unwrap_or(-PI), joint.limits.upper.unwrap_or(PI));
        let q = &mut state.q[model.joints()[model.joint(&joint.name).expect("a joint")].q_start];
        *q = lower + 0.5 * (1.0 + random.next()) * (upper - lower);
    }
    state
}

#[test]
fn neighbours_are_disabled_as_such_and_no_other_pair() {
    for name in ROBOTS {
        let robot = robot(name);
        let disabled = disabled(name);
        let adjacent = disabled.iter().filter(|(_, reason)| *reason == "Adjacent").map(|(pair, _)| pair.clone());
        assert_eq!(adjacent.collect::<BTreeSet<_>>(), neighbours(&robot), "{name}");
        assert!(disabled.values().all(|reason| reason == "Adjacent" || reason == "Never"), "{name}");
        for link in disabled.keys().flat_map(|(a, b)| [a, b]) {
            let link = robot.link(link).unwrap_or_else(|| panic!("{name} has no link {link}"));
            assert!(!link.collisions.is_empty(), "{}: {} has no collision geometry", name, link.name);
        }
    }
}

/// A pair that overlaps in one of 1,000 configurations escapes 3,000 of them with a probability of e^-3, or 5
/// %. So the test finds pairs that are disabled by mistake, such as a finger and the base. The enabled pairs
/// of each robot show that it can find any.
#[test]
fn pairs_that_never_touch_do_not_overlap_in_random_configurations() {
    for name in ROBOTS {
        let (robot, disabled) = (robot(name), disabled(name));
        let scene = loosened(&robot);
        let mut random = Random::new(2);
        let found: BTreeSet<Pair> =
            (0..3000).flat_map(|_| touching(&scene, &random_state(&robot, &scene, &mut random))).collect();
        let wrong: Vec<_> = found.iter().filter(|pair| disabled.contains_key(*pair)).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        assert!(found.len() >= 8, "{name}: enabled pairs overlap in some configurations: {found:?}");
    }
}

/// MoveIt refuses to plan from a state in which an enabled pair overlaps.
#[test]
fn named_states_are_free_of_collisions() {
    for name in ROBOTS {
        let (robot, disabled) = (robot(name), disabled(name));
        let scene = loosened(&robot);
        let text = std::fs::read_to_string(srdf_file(name)).expect("a file");
        let document = roxmltree::Document::parse(&text).expect("XML");
        let states = document.descendants().filter(|node| node.has_tag_name("group_state"));
        let value = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).expect("an attribute").to_owned();
        let (arm, gripper): (Vec<_>, Vec<_>) = states.partition(|state| state.attribute("group") == Some("arm"));
        assert!(!arm.is_empty() && !gripper.is_empty());
        for (arm, gripper) in arm.iter().flat_map(|arm| gripper.iter().map(move |gripper| (arm, gripper))) {
            let mut state = scene.model().default_state();
            for joint in arm.children().chain(gripper.children()).filter(|node| node.has_tag_name("joint")) {
                let index = scene.model().joint(&value(joint, "name")).expect("a joint");
                state.q[scene.model().joints()[index].q_start] = value(joint, "value").parse().expect("a number");
            }
            let enabled: Vec<_> =
                touching(&scene, &state).into_iter().filter(|pair| !disabled.contains_key(pair)).collect();
            let names = (value(*arm, "name"), value(*gripper, "name"));
            assert!(enabled.is_empty(), "{name}, {names:?}: {enabled:?}");
        }
    }
}
