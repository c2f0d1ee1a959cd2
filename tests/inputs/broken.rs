//! 300 broken inputs, the same in every run: robot files, meshes, scenes and command lines with one fault
//! each. Every answer names the file, the place in it and the way out; none is silent, and none panics.

use std::path::{Path, PathBuf};
use std::process::Command;

use isobar::io::mesh_files;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::io::urdf::{self, LoadOptions};
use isobar::math::Vector3;

use super::{Random, root};

/// A message that gives a way out has at least one of these words.
const WAYS_OUT: [&str; 40] = [
    "its keys are",
    "add ",
    "remove",
    "rename",
    "correct",
    "give ",
    "check",
    "write ",
    "expected",
    "must be",
    "did you mean",
    "use ",
    "convert",
    "export",
    "close ",
    "needs",
    "expand",
    "name ",
    "save ",
    "swap",
    "keep one",
    "put ",
    "is not one finite",
    "finite numbers",
    "the types are",
    "try '--help'",
    "possible values",
    "there are",
    "[possible",
    "state ",
    "add it",
    "repair",
    "join ",
    "make ",
    "declare ",
    "are read are",
    "a URDF's is",
    "writes older files",
    "choose ",
    "give it",
];

fn check(fault: &str, answer: &str, file: &str, line: bool) {
    assert!(!answer.is_empty(), "silent: {fault}");
    assert!(answer.contains(file), "{fault}\n{answer}\ndoes not name {file}");
    if line {
        let numbered =
            answer.match_indices(':').any(|(at, _)| answer[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        assert!(numbered || answer.contains("line "), "{fault}\n{answer}\nhas no line");
    }
    assert!(WAYS_OUT.iter().any(|word| answer.contains(word)), "{fault}\n{answer}\nhas no way out");
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}; {cause}");
        source = cause.source();
    }
    text
}

/// `text` with one of the places of `find` replaced; `None` if there is none.
fn replaced(random: &mut Random, text: &str, find: &str, replacement: &str) -> Option<String> {
    let places: Vec<usize> = text.match_indices(find).map(|(at, _)| at).collect();
    let at = *places.get(random.below(places.len()))?;
    Some(format!("{}{replacement}{}", &text[..at], &text[at + find.len()..]))
}

/// Faults of robot files: a piece of the text and its replacement.
const OF_ROBOTS: [(&str, &str); 34] = [
    ("mass value=", "mass valeu="),
    ("ixx=\"", "ixx=\"x"),
    ("ixx=\"", "ixx=\"nan "),
    ("<link name=", "<link nam="),
    ("<joint name=", "<joint nam="),
    ("type=\"revolute\"", "type=\"hinge\""),
    ("type=\"revolute\"", "type=\"ball\""),
    ("type=\"revolute\"", ""),
    ("<parent link=\"base\"/>", ""),
    ("<child link=\"lower\"/>", ""),
    ("<child link=\"lower\"", "<child link=\"lowr\""),
    ("<parent link=\"upper\"", "<parent link=\"uper\""),
    ("radius=\"0.03\"", "radius=\"-0.03\""),
    ("radius=\"0.03\"", "radius=\"big\""),
    ("xyz=\"0 1 0\"", "xyz=\"0 0 0\""),
    ("xyz=\"0 1 0\"", "xyz=\"0 1\""),
    ("size=\"0.3 0.05 0.05\"", "size=\"0.3 0.05\""),
    ("<collision", "<colision"),
    ("<inertial>", "<inertal>"),
    ("<origin xyz", "<orign xyz"),
    ("origin xyz=", "origin xzy="),
    ("lower=\"-2\"", "lower=\"3\""),
    ("lower=\"-2\"", "lowr=\"-2\""),
    ("effort=\"40\"", "effort=\"-40\""),
    ("velocity=\"3\"", "velocity=\"fast\""),
    ("name=\"lower\"", "name=\"upper\""),
    ("name=\"elbow\"", "name=\"shoulder\""),
    ("<sphere radius=\"0.03\"/>", "<mesh filename=\"gone.obj\"/>"),
    ("<sphere radius=\"0.03\"/>", "<sphre radius=\"0.03\"/>"),
    ("<sphere radius=\"0.03\"/>", "<mesh/>"),
    ("<robot ", "<robt "),
    ("</link>", "</lnk>"),
    ("\"/>", "/>"),
    ("value=\"", "value=\"-"),
];

fn broken_robots(random: &mut Random, count: usize) {
    let good = std::fs::read_to_string(root("urdf/two_link_arm.urdf")).expect("a robot");
    let file = Path::new("arm_under_test.urdf");
    let read = |text: &str| match urdf::load_str(text, file, &root("urdf"), &PackageMap::new(), &LoadOptions::default())
    {
        Ok(robot) => robot.warnings.iter().map(|warning| format!("{warning}\n")).collect(),
        Err(error) => chain(&error),
    };
    assert_eq!(read(&good), "", "the file without a fault");
    for number in 0..count {
        let (find, replacement) = OF_ROBOTS[number % OF_ROBOTS.len()];
        let mut text = replaced(random, &good, find, replacement).unwrap_or_else(|| panic!("no {find}"));
        let closing = (find.replace('<', "</"), replacement.replace('<', "</"));
        if ["<collision", "<inertial>"].contains(&find) {
            text = text.replace(&good_end(&closing.0), &good_end(&closing.1));
        }
        check(&format!("{find} -> {replacement}"), &read(&text), "arm_under_test.urdf", true);
    }
}

fn good_end(tag: &str) -> String {
    format!("{}>", tag.trim_end_matches('>'))
}

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1
f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

/// Faults of mesh files: the ending, the text, a piece of it and its replacement.
const OF_MESHES: [(&str, &str, &str, &str); 15] = [
    ("obj", CUBE, "f 5 6 8 7", "f 5 6 8 70"),
    ("obj", CUBE, "f 5 6 8 7", "f 5 6 8 x"),
    ("obj", CUBE, "v 1 1 1", "v 1 1"),
    ("obj", CUBE, "v 1 1 1", "v 1 one 1"),
    ("obj", CUBE, "v 1 1 1", "v 1 nan 1"),
    ("obj", CUBE, "f 1 3 4 2", "f 0 3 4 2"),
    ("obj", CUBE, CUBE, ""),
    ("obj", CUBE, CUBE, STL),
    ("stl", STL, "vertex 1 0 0", "vertex 1 0"),
    ("stl", STL, "vertex 1 0 0", "vertex 1 x 0"),
    ("stl", STL, "endloop", "endlop"),
    ("stl", STL, STL, ""),
    ("stl", STL, STL, CUBE),
    ("ply", STL, "solid", "ply"),
    ("dae", STL, "solid", "<COLLADA>"),
];

fn broken_meshes(random: &mut Random, count: usize) {
    for number in 0..count {
        let (ending, good, find, replacement) = OF_MESHES[number % OF_MESHES.len()];
        let file = PathBuf::from(format!("under_test.{ending}"));
        let mut text = replaced(random, good, find, replacement).unwrap_or_else(|| panic!("no {find}"));
        // The next rounds have blanks and comments around the fault.
        text.push_str(&" ".repeat(number / OF_MESHES.len()));
        let answer = match mesh_files::read_bytes(text.as_bytes(), &file, &Vector3::repeat(1.0)) {
            Ok(_) => String::new(),
            Err(error) => chain(&error),
        };
        check(&format!("{ending}: {find} -> {replacement}"), &answer, &format!("under_test.{ending}"), false);
    }
}

/// Faults of scenes: a piece of the text and its replacement.
const OF_SCENES: [(&str, &str); 45] = [
    ("ground:", "gruond:"),
    ("models:", "modles:"),
    ("models:", ""),
    ("- name: arm", "- nam: arm"),
    ("name: arm", "nmae: arm"),
    ("urdf:", "urfd:"),
    ("urdf: urdf/two_link_arm.urdf", "urdf: urdf/two_lnk_arm.urdf"),
    ("weld:", "wled:"),
    ("weld: {}", "weld: 3"),
    ("joints:", "jionts:"),
    ("shoulder: -0.6", "sholder: -0.6"),
    ("shoulder: -0.6", "shoulder: left"),
    ("shoulder: -0.6", "shoulder: 90"),
    ("actuators:", "acutators:"),
    ("stiffness:", "stifness:"),
    ("stiffness: 80", "stiffness: -80"),
    ("stiffness: 80", "stiffness: .nan"),
    ("damping: 8", "damping: [8]"),
    ("gravity_compensation: true", "gravity_compensation: 1"),
    ("box:", "bxo:"),
    ("[0.1, 0.1, 0.1]", "[0.1, 0.1]"),
    ("[0.1, 0.1, 0.1]", "[0.1, 0.1, -0.1]"),
    ("[0.1, 0.1, 0.1]", "[0.1, 0.1, 0.1"),
    ("mass: 1", "mass: 0"),
    ("mass: 1", "masss: 1"),
    (", mass: 1", ""),
    ("free: { xyz", "free: { xzy"),
    ("[0, 0, 0.5]", "[0, 0, high]"),
    ("[0, 0, 0.5]", "[0, 0, 50000]"),
    ("rpy: [0, 0, 1]", "rpy: [0, 0, 90]"),
    ("mu_dynamic: 0.6", "mu_dynamic: 60"),
    ("mu_dynamic:", "friction:"),
    ("commands:", "comands:"),
    ("elbow: { position", "elbw: { position"),
    ("{ position: 1 }", "{ positon: 1 }"),
    ("outputs:", "output:"),
    ("{ position: { body: cube", "{ position: { body: cbue"),
    ("axis: z", "axis: w"),
    ("step: 0.001", "step: 1000"),
    ("step: 0.001", "step: 0"),
    ("step: 0.001", "step 0.001"),
    ("count: 3", "count: 2.5"),
    ("count: 3", "count: 100000"),
    ("within:", "wihtin:"),
    ("$mu", "$my"),
];

const SCENE: &str = "parameters: { mu: 0.4 }
step: 0.001
ground: { mu_dynamic: 0.6 }
models:
  - name: arm
    urdf: urdf/two_link_arm.urdf
    weld: {}
    joints: { shoulder: -0.6 }
    actuators: { '*': { stiffness: 80, damping: 8 } }
    gravity_compensation: true
  - { name: cube, box: [0.1, 0.1, 0.1], mass: 1, free: { xyz: [0, 0, 0.5], rpy: [0, 0, 1] } }
  - { name: ball, sphere: 0.1, mass: 1, free: {}, count: 3, random: { within: [[1, 1, 1], [3, 3, 3]] } }
materials: [{ mu_dynamic: $mu }]
commands: { elbow: { position: 1 } }
outputs: { height: { position: { body: cube, axis: z } } }
";

fn broken_scenes(random: &mut Random, count: usize) {
    let label = root("scene_under_test.yaml");
    let read = |text: &str| match scene_file::load_str(text, &label, &PackageMap::new()) {
        Ok(loaded) => loaded.warnings.join("\n"),
        Err(error) => chain(&error),
    };
    assert_eq!(read(SCENE), "", "the scene without a fault");
    for number in 0..count {
        let (find, replacement) = OF_SCENES[number % OF_SCENES.len()];
        let text = replaced(random, SCENE, find, replacement).unwrap_or_else(|| panic!("no {find}"));
        // The second round has the fault after some lines of comment.
        let text = format!("{}{text}", "# a comment\n".repeat(number / OF_SCENES.len()));
        check(&format!("{find} -> {replacement}"), &read(&text), "scene_under_test.yaml", true);
    }
}

/// Faults of command lines: the arguments, and the one that the answer names.
const OF_COMMANDS: [(&str, &str); 25] = [
    ("rnu config/drop.yaml", "rnu"),
    ("run", "SCENE"),
    ("run config/drop.yaml", "--duration"),
    ("run config/drop.yaml --duration", "--duration"),
    ("run config/drop.yaml --duration 0", "--duration"),
    ("run config/drop.yaml --duration long", "--duration"),
    ("run config/drop.yaml --duration -1", "-1"),
    ("run config/dorp.yaml --duration 1", "config/dorp.yaml"),
    ("run config --duration 1", "config"),
    ("run config/drop.yaml --duration 1 --durtion 2", "--durtion"),
    ("run config/drop.yaml --duration 1 --step 0", "--step"),
    ("run config/drop.yaml --duration 1 --stepping fast", "fast"),
    ("run config/drop.yaml --duration 1 --every 0", "--every"),
    ("run config/drop.yaml --duration 1 --command elbow", "--command"),
    ("run config/drop.yaml --duration 1 --command elbow.position=1", "elbow"),
    ("run config/drop.yaml --duration 1 --set a", "--set"),
    ("run config/drop.yaml --duration 1 --set a=1", "--set a=1"),
    ("run config/drop.yaml --duration 1 --package a", "--package"),
    ("run config/drop.yaml --duration 1 --from gone.checkpoint", "gone.checkpoint"),
    ("run config/drop.yaml --duration 0.01 --csv gone/a.csv", "gone/a.csv"),
    ("inspect urdf/blal.urdf", "urdf/blal.urdf"),
    ("inspect urdf", "urdf"),
    ("mesh meshes/objects/gone.obj", "gone.obj"),
    ("render config/drop.yaml --size 3", "--size"),
    ("render config/drop.yaml --view x", "--view"),
];

fn broken_commands(random: &mut Random, count: usize) {
    for number in 0..count {
        let (arguments, named) = OF_COMMANDS[number % OF_COMMANDS.len()];
        let mut words: Vec<&str> = arguments.split(' ').collect();
        // The second round has an option that is right, in front of the others.
        if number >= OF_COMMANDS.len() && words[0] == "run" && words.len() > 2 {
            words.insert(1, ["--quiet", "--force"][random.below(2)]);
        }
        let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(&words)
            .current_dir(root(""))
            .output()
            .expect("the program");
        let answer = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !answer.contains("panicked"), "{words:?}\n{answer}");
        check(&words.join(" "), &answer, named, false);
    }
}

/// More faults of robot files: a piece of the text, whose last place is replaced, and its replacement.
const MORE_OF_ROBOTS: [(&str, &str); 16] = [
    ("<parent link=\"base\"/>", "<parent link=\"lower\"/>"),
    ("</robot>", "<link name=\"lonely\"/></robot>"),
    ("</robot>", "<joint name=\"j\" type=\"fixed\"><parent link=\"base\"/><child link=\"lower\"/></joint></robot>"),
    ("<sphere radius=\"0.03\"/>", "<sphere radius=\"0.03\"/><box size=\"1 1 1\"/>"),
    ("<sphere radius=\"0.03\"/>", "<cylinder radius=\"0.03\"/>"),
    ("<sphere radius=\"0.03\"/>", "<mesh filename=\".\"/>"),
    ("<sphere radius=\"0.03\"/>", "<mesh filename=\"a.step\"/>"),
    ("<sphere radius=\"0.03\"/>", "<mesh filename=\"package://my_robot/a.stl\"/>"),
    ("<sphere radius=\"0.03\"/>", "<mesh filename=\"../meshes/objects/mug.obj\" scale=\"0 1 1\"/>"),
    ("radius=\"0.03\"", "radius=\"0.03\" radius=\"0.04\""),
    ("<link name=\"lower\"", "<link name=\"\""),
    ("xyz=\"0 1 0\"", "xyz=\"0 1e400 0\""),
    ("xyz=\"0 1 0\"/>", "xyz=\"0 1 0\"/><origin rpy=\"0 0 90\"/>"),
    (
        "</collision>",
        "<drake:proximity_properties><drake:hydroelastic_modulus value=\"-1\"/></drake:proximity_properties></collision>",
    ),
    (
        "</collision>",
        "<drake:proximity_properties><drake:hydroelastic_modulos value=\"1\"/></drake:proximity_properties></collision>",
    ),
    ("<robot", "<html><robot"),
];

/// Faults of SDFormat files: the place of the first of two words is taken by the second.
const OF_SDFORMAT: [(&str, &str); 12] = [
    ("<sdf version=\"1.12\"", "<sdf version=\"2.0\""),
    ("type=\"revolute\"", "type=\"hinge\""),
    ("<child>b</child>", "<child>nowhere</child>"),
    ("<child>b</child>", ""),
    ("<pose>0 0 1 0 0 0</pose>", "<pose relative_to=\"nowhere\">0 0 1 0 0 0</pose>"),
    ("<pose>0 0 1 0 0 0</pose>", "<pose>0 0 1 0 0</pose>"),
    ("<mass>1</mass>", "<mass>heavy</mass>"),
    ("<mass>1</mass>", "<mass>-1</mass>"),
    ("</model>", "<include><uri>gone.sdf</uri></include></model>"),
    ("</model>", "<frame name=\"f\" attached_to=\"g\"/><frame name=\"g\" attached_to=\"f\"/></model>"),
    ("</model>", "<link name=\"a\"/></model>"),
    ("<xyz>0 0 1</xyz>", "<xyz>0 0 0</xyz>"),
];

const SDFORMAT: &str = r#"<sdf version="1.12"><model name="m">
<link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
<link name="b"><pose>0 0 1 0 0 0</pose>
<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>
"#;

fn more_broken_robots() {
    let good = std::fs::read_to_string(root("urdf/two_link_arm.urdf")).expect("a robot");
    let sides = [
        ("arm_under_test.urdf", good.as_str(), &MORE_OF_ROBOTS[..]),
        ("arm_under_test.sdf", SDFORMAT, &OF_SDFORMAT[..]),
    ];
    for (file, good, faults) in sides {
        let read = |text: &str| {
            let options = LoadOptions::default();
            match urdf::load_str(text, Path::new(file), &root("urdf"), &PackageMap::new(), &options) {
                Ok(robot) => robot.warnings.iter().map(|warning| format!("{warning}\n")).collect(),
                Err(error) => chain(&error),
            }
        };
        assert_eq!(read(good), "", "{file} without a fault");
        for (find, replacement) in faults {
            let at = good.rfind(find).unwrap_or_else(|| panic!("no {find}"));
            let text = format!("{}{replacement}{}", &good[..at], &good[at + find.len()..]);
            check(&format!("{find} -> {replacement}"), &read(&text), file, true);
        }
    }
}

/// More faults of scenes: whole texts.
const MORE_OF_SCENES: [&str; 14] = [
    "- a\n- b\n",
    "ground: {}\nground: {}\n",
    "ground: &a {}\nmodels: *b\n",
    "include: scene_under_test.yaml\nground: {}\n",
    "gravity: [0, -9.81]\nground: {}\n",
    "ground: {}\nmodels: [{ name: b, box: [1, 1, 1], sphere: 1, mass: 1, free: {} }]\n",
    "ground: {}\nmodels: [{ name: b, box: [1, 1, 1], mass: 1, density: 1000, free: {} }]\n",
    "ground: {}\nmodels: [{ name: b, box: [1, 1, 1], mass: 1, free: {}, weld: {} }]\n",
    "ground: {}\nmodels: [{ name: b, box: [1, 1, 1], mass: 1, weld: { parent: tabel } }]\n",
    "parameters: { mu: 0.3 }\nground: {}\n",
    "ground: {}\nmaterials: [{ body: cbue, mu_dynamic: 0.3 }]\n",
    "stepping: implicit\nground: {}\n",
    "publish: { joint_states: -3 }\nground: {}\n",
    "wrenches: { nobody: { force: [1, 0, 0] } }\nground: {}\n",
];

fn more_broken_scenes() {
    let label = root("scene_under_test.yaml");
    for text in MORE_OF_SCENES {
        let answer = match scene_file::load_str(text, &label, &PackageMap::new()) {
            Ok(loaded) => loaded.warnings.join("\n"),
            Err(error) => chain(&error),
        };
        check(text, &answer, "scene_under_test.yaml", true);
    }
}

/// More faults of command lines: the arguments, and the word that the answer contains. `OUT` is a folder.
const MORE_OF_COMMANDS: [(&str, &str); 27] = [
    ("render config/drop.yaml --size 0x0", "--size"),
    ("render config/drop.yaml --out OUT/a.jpg", "a.jpg"),
    ("render config/drop.yaml --look-at 0,0", "--look-at"),
    ("render config/drop.yaml --from 1 --to 0.5 --frames 3 --out OUT/a.png", "--from"),
    ("render config/drop.yaml --contact --size 64x64 --out OUT/a.png", "touches"),
    ("run config/drop.yaml --duration 0.01 --contacts gone/c.csv", "gone/c.csv"),
    ("run config/drop.yaml --duration 0.01 --csv OUT/x.csv --contacts OUT/x.csv", "x.csv"),
    ("run config/drop.yaml --duration 0.01 --record OUT/x.bag", "x.bag"),
    ("run config/drop.yaml --duration 0.01 --from config/drop.yaml", "config/drop.yaml"),
    ("run config/drop.yaml --duration 1e300", "--duration"),
    ("run config/drop.yaml --duration -1", "--duration"),
    ("run config/drop.yaml --duration 1 --step 1", "--step 1"),
    ("run config/drop.yaml --duration 1 --step 1e-9", "--step 0.000000001"),
    ("run config/drop.yaml --duration 1 --command a.position=0", "the scene has none"),
    (
        "run config/start/arm_on_table.yaml --duration 1 --command elbow.effort=0 --command elbow.effort=1",
        "another --command",
    ),
    ("run config/start/heap.yaml --duration 0.001 --set seed=1.5", "`seed`"),
    ("run urdf/cube.urdf --duration 1", "isobar inspect urdf/cube.urdf"),
    ("mesh meshes/objects/mug.obj --modulus -1", "--modulus"),
    ("mesh meshes/objects/mug.obj --hint 0", "--hint"),
    ("mesh meshes/objects/mug.obj --max-tets 0", "--max-tets"),
    ("mesh meshes/objects/mug.obj --scale nan", "--scale"),
    ("mesh meshes/objects/mug.obj --preview OUT/a.jpg", "--preview"),
    ("mesh OUT/open.obj", "open.obj"),
    ("experiment pancake-flop", "pancake-flop"),
    ("experiment spatula-slip --refinements 0", "--refinements"),
    ("inspect config/drop.yaml", "config/drop.yaml"),
    ("draw config/drop.yaml", "config/drop.yaml"),
];

/// Faults of tables for `isobar plot`: the text, further arguments, and the word that the answer contains.
const OF_TABLES: [(&str, &str, &str); 11] = [
    ("", "", "t.csv"),
    ("time,x\n", "", "t.csv"),
    ("time,x\n0,1\n0.1\n", "", "t.csv:3"),
    ("time,x\n0,1\n0.1,two\n", "", "t.csv:3"),
    ("time,x,x\n0,1,2\n", "", "t.csv:1"),
    ("who,what\na,b\n", "", "t.csv"),
    ("time\n0\n1\n", "", "t.csv"),
    ("time;x\n0;1\n1;2\n", "", "t.csv"),
    ("time,x\nnan,nan\nnan,nan\n", "", "t.csv"),
    ("time,x\n0,1\n1,2\n", "--columns xx", "xx"),
    ("time,x\n0,1\n1,2\n", "--out a.png", "a.png"),
];

fn more_broken_commands() {
    let folder = std::env::temp_dir().join(format!("isobar_broken_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("open.obj"), CUBE.replace("f 2 4 8 6\n", "")).expect("a mesh");
    let answer = |arguments: &str| {
        let arguments = arguments.replace("OUT", &folder.display().to_string());
        let words = arguments.split_whitespace();
        let output =
            Command::new(env!("CARGO_BIN_EXE_isobar")).args(words).current_dir(root("")).output().expect("the program");
        let answer = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !answer.contains("panicked"), "{arguments}\n{answer}");
        answer
    };
    for (arguments, named) in MORE_OF_COMMANDS {
        check(arguments, &answer(arguments), named, false);
    }
    for (text, arguments, named) in OF_TABLES {
        std::fs::write(folder.join("t.csv"), text).expect("a table");
        check(text, &answer(&format!("plot OUT/t.csv {arguments}")), named, false);
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn each_of_80_more_broken_inputs_is_answered_with_place_and_way_out() {
    more_broken_robots();
    more_broken_scenes();
    more_broken_commands();
}

#[test]
fn each_of_300_broken_inputs_is_answered_with_place_and_way_out() {
    let mut random = Random(0x1507_BA12);
    broken_robots(&mut random, 100);
    broken_meshes(&mut random, 60);
    broken_scenes(&mut random, 90);
    broken_commands(&mut random, 50);
}
