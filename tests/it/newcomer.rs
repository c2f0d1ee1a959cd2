//! Mistakes of someone who brings a robot, a scene or a command for the first time: each is answered with its
//! cause and its way out, and what is no mistake is not.

use std::path::{Path, PathBuf};
use std::process::Command;

use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::io::urdf::{self, LoadOptions};
use isobar::robot::inspect::report;

use crate::scene_file::chain;

/// An arm of two links on a root link without mass.
const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.15 0 0"/><mass value="1.2"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-2" iyz="0" izz="1e-2"/></inertial>
    <collision><origin xyz="0.15 0 0"/><geometry><box size="0.3 0.05 0.05"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0.12 0 0"/><mass value="0.6"/><inertia ixx="3e-4" ixy="0" ixz="0" iyy="4e-3" iyz="0" izz="4e-3"/></inertial>
    <collision name="tip"><origin xyz="0.25 0 0"/><geometry><sphere radius="0.03"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="40" velocity="3"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit lower="0" upper="2.5" effort="20" velocity="3"/></joint>
</robot>
"#;

/// A static cart, as SDFormat.
const CART: &str = r#"<sdf version="1.9"><model name="cart"><static>true</static><pose>0 0 1 0 0 0</pose>
<link name="body"><pose>0 0 0 0 0 0</pose><inertial><mass>2</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>
</model></sdf>
"#;

/// A folder of this test with the files `arm.urdf`, `cart.sdf` and `scene.yaml`.
fn folder(test: &str, scene: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("newcomer_{test}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in [("arm.urdf", ARM), ("cart.sdf", CART), ("scene.yaml", scene)] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    folder
}

/// A scene in the folder of `folder`.
fn load(test: &str, scene: &str) -> Result<LoadedScene, String> {
    let folder = folder(test, scene);
    scene_file::load_str(scene, &folder.join("scene.yaml"), &PackageMap::new()).map_err(|error| chain(&error))
}

fn warnings(test: &str, scene: &str) -> String {
    load(test, scene).unwrap_or_else(|error| panic!("{scene}\n{error}")).short_warnings().join("\n")
}

/// `text` holds `part`, or does not hold what follows `!`.
fn holds(text: &str, part: &str) -> bool {
    part.strip_prefix('!').map_or(text.contains(part), |absent| !text.contains(absent))
}

/// Every answer of a table holds its parts; all faults are reported together.
fn all_hold(answers: &[(String, &[&str])]) {
    let faults: Vec<String> = answers
        .iter()
        .flat_map(|(text, parts)| {
            let missing = parts.iter().filter(|part| !holds(text, part));
            missing.map(move |part| format!("`{part}` is not right in: {text}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Bodies that overlap at the start by more than resting contact are named with the depth. Bodies that rest,
/// also in soft ground, or that overlap by less than a millimetre, are not. Forces: two cubes of 0.5 kg that
/// overlap by 30 mm of 100 press with 30 kN; the foam of 1 kg rests 9.8 N/(1e4 Pa 0.01 m2/0.05 m) = 4.9 mm
/// deep.
#[test]
fn bodies_that_overlap_at_the_start_are_named() {
    let cubes = |more: &str| {
        format!(
            "ground: {{}}\nmodels:\n  - {{ name: b, 'box': [0.1, 0.1, 0.1], density: 500, free: {{ xyz: [0, 0, 0.051] }}, {more} }}\n"
        )
    };
    let at = "!overlap";
    let named = ["`b_1/", "`b_2/", "overlap by 30.0 mm at the start", "`spacing` of a `grid`"];
    let grid = "grid: { count: [4, 1, 1], spacing: [0.07, 0.05, 0.05] }";
    let soft = "material: { compliant: true, hydroelastic_modulus: 1e4 }, mass: 1";
    all_hold(&[
        (warnings("overlap", &cubes("at: [[0, 0, 0], [0.07, 0, 0]]")), &named),
        (warnings("overlap", &cubes("at: [[0, 0, 0], [0.07, 0, 0]], material: { compliant: false }")), &named),
        (warnings("overlap", &cubes(grid)), &["overlap by 30.0 mm", "and 2 more of this kind"]),
        (warnings("overlap", &cubes("at: [[0, 0, 0], [0.0995, 0, 0]], material: { compliant: false }")), &[at]),
        (warnings("overlap", &cubes("at: [[0, 0, 0], [0.11, 0, 0]]")), &[at]),
        (
            warnings(
                "overlap",
                &format!(
                    "ground: {{}}\nmodels:\n  - {{ name: foam, 'box': [0.1, 0.1, 0.1], {soft}, free: {{ xyz: [0, 0, 0.0451] }} }}\n"
                ),
            ),
            &[at],
        ),
    ]);
}

/// The position 50 rad of a joint that turns by 0 to 2.5 rad, and 90, which are 1.5708 rad as degrees.
#[test]
fn commands_beyond_limits_are_named() {
    let with = |command: &str| {
        format!(
            "models:\n  - {{ name: arm, urdf: arm.urdf, weld: {{ xyz: [0, 0, 1] }}, actuators: {{ '*': {{ stiffness: 100, damping: 5 }} }} }}\n\
             commands: {{ elbow: {command} }}\n"
        )
    };
    let wave = "{ position: { sine: { mean: 1, amplitude: 2, period: 1 } } }";
    all_hold(&[
        (
            warnings("limits", &with("{ position: 500 }")),
            &["position 500 of joint `elbow` exceeds its limit of 2.5 rad", "!degrees"],
        ),
        (
            warnings("limits", &with("{ position: 90 }")),
            &["exceeds its limit of 2.5 rad", "if this is in degrees, 1.5708"],
        ),
        (warnings("limits", &with(wave)), &["position -1 of joint `elbow` exceeds its limit of 0 rad"]),
        (warnings("limits", &with("{ effort: -30 }")), &["effort -30 of joint `elbow` exceeds its limit of -20 N m"]),
        (warnings("limits", &with("{ position: 2.5, effort: 20 }")), &["!exceeds"]),
    ]);
}

/// Robot files as they come: what is wrong is named, with the place where it is.
#[test]
fn robot_files_are_answered() {
    let inspected = |text: &str| {
        let robot =
            urdf::load_str(text, Path::new("r.urdf"), Path::new(""), &PackageMap::new(), &LoadOptions::default());
        robot.map_or_else(|error| error.to_string(), |robot| report(&robot))
    };
    let of = |from: &str, to: &str| {
        assert!(ARM.contains(from), "{from}");
        inspected(&ARM.replace(from, to))
    };
    all_hold(&[
        (inspected(ARM), &["Likely mistakes\n  (nothing)"]),
        (of("lower=\"0\" upper=\"2.5\"", "lower=\"-180\" upper=\"180\""), &["-180 rad", "in degrees", "-3.1416"]),
        (of("lower=\"0\" upper=\"2.5\"", "lower=\"-1000\" upper=\"1000\""), &["!in degrees"]),
        (
            of("<origin xyz=\"0.3 0 0\"/>", "<origin position=\"0.3 0 0\"/>"),
            &["attribute `position` is unknown", "`xyz`"],
        ),
        (of("<origin xyz=\"0.3 0 0\"/>", "<origin xyz=\"0.3 0 0\" remark=\"by hand\"/>"), &["!unknown"]),
        (of("lower=\"0\" upper=\"2.5\"", "lower=\"2.5\" upper=\"0\""), &["(nothing beyond the 1 item above)"]),
        (of("</robot>", ""), &["r.urdf:14:1", "add what is missing", "!xacro"]),
        (of("</robot>", "</robt>"), &["correct the text at this place", "!xacro"]),
        (
            inspected(
                "<robot name='r'><link name=''/><link name='a'/><joint name='j' type='fixed'><parent link='base'/><child link='a'/></joint></robot>",
            ),
            &["no parent link `base`", "!``"],
        ),
        (
            inspected(
                "<robot name='r'><link name='world'/><link name='a'/><joint name='j' type='fixed'><parent link='base'/><child link='a'/></joint></robot>",
            ),
            &["no parent link `base`", "there is `a` and `world`"],
        ),
        (
            inspected(&CART.replace("0 0 0 0 0 0</pose><inertial>", "0 0 0 90 0 0</pose><inertial>")),
            &["90 rad", "if these are degrees"],
        ),
        (
            inspected(
                &CART.replace(
                    "<pose>0 0 0 0 0 0</pose><inertial>",
                    "<pose degrees=\"true\">0 0 0 90 0 0</pose><inertial>",
                ),
            ),
            &["!degrees,"],
        ),
        (inspected(CART), &["!outermost"]),
        (inspected(&CART.replace("1.9", "2.0")), &["SDFormat 2.0", "version=\"1.12\"", "!gz sdf"]),
        (inspected(&CART.replace("1.9", "1.4")), &["SDFormat 1.4", "gz sdf"]),
    ]);
}

/// Scenes as they are first written.
#[test]
fn scenes_are_answered() {
    let answer = |scene: &str| match load("scenes", scene) {
        Ok(loaded) => loaded.warnings.join("\n"),
        Err(error) => error,
    };
    all_hold(&[
        (answer("models: []\n---\nmodels: []\n"), &["several documents", "`---`", "!from_str"]),
        (
            answer("parameters: { a: $c, c: 500 }\nmodels: [{ name: b, sphere: 0.1, density: $a, free: {} }]\n"),
            &["scene.yaml:1:", "`$c`", "cannot refer to another"],
        ),
        (
            answer("models: [{ name: c, urdf: cart.sdf, free: {} }]\n"),
            &["<static>true</static>", "`c` free", "use `weld: {}`"],
        ),
        (answer("models: [{ name: c, urdf: cart.sdf, weld: {} }]\n"), &["!static"]),
        (answer("models: [{ name: c, urdf: gone.sdf, weld: {} }]\n"), &["gone.sdf", "!URDF of"]),
        (
            answer("models: [{ name: arm, urdf: arm.urdf, free: {} }]\n"),
            &["link `base`: it has no mass, and it is free", "0.001 kg"],
        ),
        (answer("models: [{ name: arm, urdf: arm.urdf, weld: {} }]\n"), &["!it has no mass"]),
    ]);
    let arm = load("scenes", "models: [{ name: arm, urdf: arm.urdf, free: {} }]\n").expect("a scene");
    arm.simulation().expect("a mass matrix that is not singular");
}

/// Command lines as they are first typed; the status is that of the answer.
#[test]
fn command_lines_are_answered() {
    let scene = "parameters: { a: 0.1 }\nmodels: [{ name: arm, urdf: arm.urdf, weld: {} }, { name: b, sphere: $a, density: 500, free: { xyz: [0, 0, 3] } }]\n";
    let folder = folder("commands", scene);
    let mut latin = ARM.as_bytes().to_vec();
    latin.extend(b"<!-- F\xfcr alle -->");
    std::fs::write(folder.join("arm.urdf"), latin).expect("a file");
    let answer = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobar"));
        let output = command.args(arguments.split_whitespace()).current_dir(&folder).output().expect("the program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}\n{}\nstatus {:?}", text(&output.stdout), text(&output.stderr), output.status.code())
    };
    all_hold(&[
        (answer("inspect arm.urdf"), &["Robot `arm`", "status Some(0)"]),
        (answer("run scene.yaml --duration 0.01"), &["status Some(0)", "!note"]),
        (answer("run scene.yaml --duration 0.0015 --step 0.001"), &["0.0015: whole steps of 0.001 s take 0.002 s"]),
        (answer("run scene.yaml --duration 0.6"), &["moves at", "its actuator has no gains"]),
        (answer("run scnee.yaml --duration 0.01"), &["did you mean `scene.yaml`?", "!status Some(0)"]),
        (answer("inspect amr.urdf"), &["did you mean `arm.urdf`?", "!status Some(0)"]),
        (answer("rnu scene.yaml"), &["did you mean `isobar run`?", "status Some(2)"]),
        (
            answer("run scene.yaml --duration 0.01 --set a=0.1 --set a=0.2"),
            &["--set a=0.2", "set twice", "status Some(1)"],
        ),
        (answer("inspect arm.urdf --package foo=/gone"), &["no folder `/gone`", "status Some(2)"]),
        (
            answer("run scene.yaml --duration 0.01 --command elbow.position=1e9"),
            &["position 1000000000 of joint `elbow` exceeds"],
        ),
    ]);
}
