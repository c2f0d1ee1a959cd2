//! Broken robot files are refused with file, line, element and the remedy; no text makes the reader panic.

use isobar::io::package::PackageMap;
use isobar::io::urdf::{LoadOptions, OnUnreadableMesh, load_file, load_str};

use super::{golden, load, packages, robot};

const LINKS: &str = "<link name='base'/><link name='arm'/><link name='hand'/>";

fn joint(name: &str, parent: &str, child: &str, rest: &str) -> String {
    format!("<joint name='{name}' type='revolute'><parent link='{parent}'/><child link='{child}'/>{rest}</joint>")
}

/// The text's error holds all of `parts`.
fn refused(text: &str, parts: &[&str]) {
    let message = load(text).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn texts_that_are_no_robot() {
    refused(
        "<robot name='r'>\n  <link name='a'>\n</robot>",
        &["test.urdf:3:", "not an XML document", "correct the text"],
    );
    refused("<robot name='${n}'>\n  <link>\n</robot>", &["test.urdf:3:", "not an XML document", "xacro"]);
    refused("<robot name='r'>\n  <link name='a'/>\n", &["test.urdf:3:", "not an XML document", "add what is missing"]);
    refused("", &["test.urdf:1:", "not an XML document"]);
    refused("<sdf version='1.9'/>", &["test.urdf:1", "sdf", "<model>", "<world>"]);
    refused("<mujoco/>", &["test.urdf:1", "<mujoco>", "<robot>", "MuJoCo"]);
    let missing = load_file("gone.urdf".as_ref(), &packages(), &LoadOptions::default()).unwrap_err().to_string();
    assert!(missing.contains("gone.urdf") && missing.contains("check the path"), "{missing}");
}

#[test]
fn names_and_trees() {
    let with = |joints: &str| robot(&format!("{LINKS}\n{joints}"));
    refused(&robot("<link name='a'/>\n<link name='a'/>"), &["test.urdf:3", "link `a`", "line 2", "rename"]);
    refused(
        &with(&format!("{}\n{}", joint("j", "base", "arm", ""), joint("j", "base", "hand", ""))),
        &["test.urdf:4", "joint `j`", "line 3"],
    );
    refused(
        &with(&joint("j", "base", "amr", "")),
        &["test.urdf:3", "joint `j`", "child link `amr`", "did you mean `arm`?"],
    );
    refused(&with(&joint("j", "bas", "arm", "")), &["parent link `bas`", "did you mean `base`?"]);
    refused(
        &with(&format!("{}\n{}", joint("i", "base", "hand", ""), joint("j", "arm", "hand", ""))),
        &["test.urdf:4", "joint `j`", "`hand`", "joint `i` (line 3)", "tree"],
    );
    let loops = format!("{}\n{}", joint("i", "arm", "hand", ""), joint("j", "hand", "arm", ""));
    refused(&with(&loops), &["loop", "`i`", "`j`", "remove one"]);
    refused(&with(&joint("j", "arm", "arm", "")), &["loop", "`j`"]);
    refused(&with(&joint("j", "base", "arm", "")), &["`base` (line 2)", "`hand` (line 2)", "one root"]);
    let mimics = "<link name='a'/><link name='b'/>\n".to_owned() + &joint("j", "a", "b", "<mimic joint='j'/>");
    refused(&robot(&mimics), &["test.urdf:3", "joint `j`", "mimics itself"]);
    let group = "<link name='arm'/>\n<drake:collision_filter_group name='g'><drake:member link='amr'/>\
                 </drake:collision_filter_group>";
    refused(&robot(group), &["test.urdf:3", "group `g`", "link `amr`", "did you mean `arm`?"]);
}

#[test]
fn numbers_and_attributes() {
    let link = |inside: &str| robot(&format!("<link name='a'>\n{inside}</link>"));
    let inertial = |mass: &str, ixx: &str| {
        link(&format!(
            "<inertial><mass value='{mass}'/>\n<inertia ixx='{ixx}' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
        ))
    };
    refused(&inertial("1,5", "1"), &["test.urdf:3", "link `a`", "<mass>", "1,5", "one finite number"]);
    refused(&inertial("NaN", "1"), &["<mass>", "finite"]);
    refused(&inertial("1", "1e999"), &["test.urdf:4", "<inertia>", "ixx", "finite"]);
    refused(&inertial("-1", "1"), &["test.urdf:3", "the mass is -1", "zero or greater"]);
    refused(&link("<inertial><mass value='1'/><inertia ixx='1'/></inertial>"), &["<inertia>", "ixy"]);
    refused(&link("<inertial/>"), &["test.urdf:3", "<mass>", "missing"]);
    refused(&robot("<link/>"), &["test.urdf:2", "`name`"]);
    let shape = |shape: &str| link(&format!("<collision>\n<geometry>{shape}</geometry></collision>"));
    refused(&shape("<box size='1 2'/>"), &["test.urdf:4", "<box>", "3 finite numbers"]);
    refused(&shape("<box size='1 2 two'/>"), &["3 finite numbers"]);
    refused(&shape("<box size='1 0 1'/>"), &["link `a`", "<collision>", "greater than zero"]);
    refused(&shape("<sphere radius='-1'/>"), &["`radius` is -1"]);
    refused(&shape("<drake:ellipsoid a='1' b='0' c='1'/>"), &["`b` is 0"]);
    refused(&shape("<cylinder radius='1'/>"), &["<cylinder>", "`length`"]);
    refused(&shape("<cone/>"), &["<cone>", "drake:capsule"]);
    refused(&link("<collision/>"), &["<geometry>", "missing"]);
    let contact = "<collision><geometry><sphere radius='1'/></geometry><drake:proximity_properties>\n";
    let contact = |inside: &str| link(&format!("{contact}{inside}</drake:proximity_properties></collision>"));
    refused(
        &contact("<drake:hydroelastic_modulus value='0'/>"),
        &["test.urdf:4", "hydroelastic_modulus", "greater than zero"],
    );
    refused(&contact("<drake:mu_dynamic/>"), &["drake:mu_dynamic", "`value`"]);
    refused(&contact("<drake:rigid_hydroelastic/><drake:compliant_hydroelastic/>"), &["keep one"]);
}

#[test]
fn joints() {
    let with = |joint: &str| robot(&format!("<link name='a'/><link name='b'/>\n{joint}"));
    refused(&with(&joint("j", "a", "b", "<axis xyz='0 0 0'/>")), &["test.urdf:3", "joint `j`", "axis is zero"]);
    refused(&with(&joint("j", "a", "b", "<limit lower='NaN'/>")), &["<limit>", "`lower"]);
    refused(&with(&joint("j", "a", "b", "<limit effort='-1'/>")), &["`effort` is -1"]);
    refused(&with(&joint("j", "a", "b", "<dynamics damping='-1'/>")), &["damping is -1"]);
    refused(&with("<joint name='j' type='ball'/>"), &["joint `j`", "`ball`", "three `revolute`"]);
    refused(&with("<joint name='j' type='hinge'/>"), &["`hinge`", "fixed, revolute"]);
    refused(&with("<drake:joint name='j' type='universal'/>"), &["drake:joint `j`", "two `revolute`"]);
    refused(&with("<joint name='j' type='fixed'><parent link='a'/></joint>"), &["<child>", "missing"]);
    refused(&with("<joint name='j' type='fixed'><parent/><child link='b'/></joint>"), &["<parent>", "`link`"]);
    refused(&with("<joint name='j'><parent link='a'/><child link='b'/></joint>"), &["`type`"]);
}

/// A collision mesh that is not found is an error with all tried paths and the remedies, or a warning if
/// requested.
#[test]
fn collision_meshes_that_cannot_be_read() {
    let mesh = |uri: &str| {
        robot(&format!("<link name='a'>\n<collision><geometry><mesh filename='{uri}'/></geometry></collision></link>"))
    };
    let remedies = ["test.urdf:3", "link `a`", "AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "--package NAME=PATH"];
    refused(&mesh("package://toy/meshes/gone.stl"), &remedies);
    refused(&mesh("package://toy/meshes/gone.stl"), &["install/share/toy/meshes/gone.stl"]);
    let tried = ["install/share/unknown/gone.stl", "workspace/unknown/gone.stl"];
    refused(&mesh("package://unknown/gone.stl"), &tried);
    refused(&mesh("README.md"), &["README.md", "convert it to STL, OBJ"]);
    refused(&mesh("package://toy"), &["a package and a path"]);
    refused(&mesh("https://example.org/a.stl"), &["not supported", "file:///"]);
    refused(&mesh("package://toy/meshes/cube.obj' scale='1 0 1"), &["`scale` is 0"]);
    let skip = LoadOptions { on_unreadable_collision_mesh: OnUnreadableMesh::WarnAndSkip, ..LoadOptions::default() };
    let text = mesh("gone.stl");
    let loaded = load_str(&text, "test.urdf".as_ref(), &golden(), &PackageMap::new(), &skip).unwrap();
    assert!(loaded.links[0].collisions.is_empty());
    assert!(loaded.warnings[0].to_string().contains("gone.stl"), "{}", loaded.warnings[0]);
    let text = mesh("package://gone/gone.stl");
    let alone = load_str(&text, "test.urdf".as_ref(), &golden(), &PackageMap::new(), &LoadOptions::default());
    assert!(alone.unwrap_err().to_string().contains("name no folders"));
}

/// Fuzz: a robot file cut anywhere, or with a byte changed, is read or refused.
#[test]
fn cut_and_damaged_robot_files_never_panic() {
    let text = std::fs::read_to_string(golden().join("arm.urdf")).unwrap();
    let options = LoadOptions::default();
    let mut refused = 0;
    for end in (0..text.len()).step_by(23) {
        refused += usize::from(load_str(&text[..end], "cut".as_ref(), &golden(), &packages(), &options).is_err());
    }
    assert_eq!(refused, text.len().div_ceil(23), "the end tag is missing in every one");
    for at in (0..text.len()).step_by(41) {
        for byte in [b'<', b'"', b'-', b'9', b' '] {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = byte;
            let damaged = String::from_utf8(damaged).unwrap();
            let _ = load_str(&damaged, "damaged".as_ref(), &golden(), &packages(), &options);
        }
    }
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(load(&deep).is_err());
}
