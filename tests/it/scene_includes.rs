//! Scenes that include others, parameters, and named positions of an SRDF.

use std::fs;
use std::path::PathBuf;

use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene, Loading, SceneError};
use isobar::math::Vector3;

use crate::scene_file::chain;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("isobar_{name}_{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn load(&self, set: &[(&str, &str)]) -> Result<LoadedScene, SceneError> {
        let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let loading = Loading { set: &set, ..Loading::default() };
        scene_file::load_with(&self.0.join("scene.yaml"), &PackageMap::new(), &loading)
    }

    fn refusal(&self, set: &[(&str, &str)]) -> String {
        match self.load(set) {
            Ok(_) => panic!("accepted"),
            Err(error) => chain(&error),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const BALL: &str = "<robot name='ball'><link name='ball'><inertial><mass value='1'/>
<inertia ixx='1e-3' ixy='0' ixz='0' iyy='1e-3' iyz='0' izz='1e-3'/></inertial>
<collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>";

const TABLE: &str = "
parameters: { friction: 0.4, height: 0.7 }
step: 0.002
gravity: [0, 0, -1]
ground: { mu_dynamic: 0.9, hunt_crossley_dissipation: 3 }
models:
  - { name: table, box: [1, 1, 0.05], weld: { xyz: [0, 0, $height] } }
  - { name: ball, urdf: ball.urdf, free: { xyz: [0, 0, 1] } }
materials:
  - { mu_dynamic: $friction }
";

/// An included scene keeps its own folder; lists are joined, sections are joined key by key, and values of
/// the including file take precedence.
#[test]
fn an_included_scene_lies_below_the_one_that_includes_it() {
    let files = [
        (
            "scene.yaml",
            "include: parts/table.yaml\nstep: 0.004\nground: { mu_dynamic: 0.2 }\nmodels: [{ name: cube, box: [0.1, 0.1, 0.1], mass: 1, free: {} }]\nmaterials: [{ body: cube, mu_dynamic: 0.8 }]\n",
        ),
        ("parts/table.yaml", TABLE),
        ("parts/ball.urdf", BALL),
    ];
    let folder = Folder::new("include", &files);
    let loaded = folder.load(&[]).unwrap();
    let names: Vec<&str> = loaded.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["table", "ball", "cube"]);
    assert_eq!(loaded.settings.step_ns, 4_000_000);
    assert_eq!(*loaded.scene.model().gravity_W(), Vector3::new(0.0, 0.0, -1.0));
    let materials: Vec<_> = loaded.scene.geometries().iter().map(|geometry| geometry.material).collect();
    assert_eq!(materials.iter().map(|material| material.friction).collect::<Vec<_>>(), [0.2, 0.4, 0.4, 0.8]);
    assert_eq!(materials[0].dissipation, 3.0);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

/// A parameter has the value that is set, or that of the outer file, or its default.
#[test]
fn parameters_are_set_from_outside_in() {
    let friction = |loaded: LoadedScene| loaded.scene.geometries().iter().next_back().unwrap().material.friction;
    let plain = "include: [table.yaml]\n";
    let outer = "include: [table.yaml]\nparameters: { friction: 0.5, which: ball }\nmodels: [{ name: b, urdf: '${which}.urdf', prefix: b_, free: { xyz: [0, 0, 2] } }]\n";
    let files = |scene: &'static str| [("scene.yaml", scene), ("table.yaml", TABLE), ("ball.urdf", BALL)];
    let folder = Folder::new("parameters_plain", &files(plain));
    assert_eq!(friction(folder.load(&[]).unwrap()), 0.4);
    assert_eq!(friction(folder.load(&[("friction", "0.3")]).unwrap()), 0.3);
    let folder = Folder::new("parameters_outer", &files(outer));
    assert_eq!(friction(folder.load(&[]).unwrap()), 0.5);
    assert_eq!(friction(folder.load(&[("friction", "0.3")]).unwrap()), 0.3);
    for (set, way_out) in [
        (("fricton", "1"), "--set fricton=1: the scene has no parameter `fricton`, did you mean `friction`?"),
        (("friction", "high"), "this is a text, and the value in the file"),
        (("friction", "[1"), "--set friction=[1: "),
        (("friction", "11"), "table.yaml:10:19: `mu_dynamic` [-] is 11; it must be between 0 and 10"),
        (("which", "cube"), "scene.yaml:3:27: the URDF file `cube.urdf`"),
    ] {
        let message = folder.refusal(&[set]);
        assert!(message.contains(way_out), "{message}\nexpected: {way_out}");
    }
}

/// Faults of includes and parameters name their place and the way out. A parameter that is not used gives a
/// warning.
#[test]
fn faults_of_includes_and_parameters_are_refused_with_place_and_way_out() {
    for (scene, way_out) in [
        (
            "include: tabel.yaml\nmodels: []\n",
            "scene.yaml:1:10: the included scene file `tabel.yaml`, did you mean `table.yaml`?",
        ),
        ("include: scene.yaml\nmodels: []\n", "scene.yaml:1:10: `scene.yaml` includes itself"),
        ("include: round.yaml\nmodels: []\n", "round.yaml:1:10: `scene.yaml` includes itself"),
        ("include: 3\nmodels: []\n", "a file of `include` must be a text"),
        ("include: list.yaml\nmodels: []\n", "list.yaml:1:1: an included scene must be a mapping"),
        ("include: table.yaml\nmodels: [{ name: table, sphere: 1, weld: {} }]\n", "table.yaml:7:"),
        ("parameters: { g: 9 }\ngravity: [0, 0, $h]\nmodels: []\n", "scene.yaml:2:17: there is no parameter `h`"),
        ("parameters: { 'a b': 9 }\nmodels: []\n", "letters, digits and _"),
        ("parameters: 3\nmodels: []\n", "`parameters` must be a mapping"),
        ("parameters: { a: 3 }\nmodels: [{ name: '${a', sphere: 1, weld: {} }]\n", "close the name"),
        ("parameters: { a: [3] }\nmodels: [{ name: 'x${a}', sphere: 1, weld: {} }]\n", "a text or a number"),
    ] {
        let files = [
            ("scene.yaml", scene),
            ("table.yaml", TABLE),
            ("ball.urdf", BALL),
            ("round.yaml", "include: scene.yaml\n"),
            ("list.yaml", "- 1\n"),
        ];
        let folder = Folder::new("include_faults", &files);
        let message = folder.refusal(&[]);
        assert!(message.contains(way_out), "{scene}\n{message}\nexpected: {way_out}");
    }
    let folder = Folder::new("unused", &[("scene.yaml", "parameters: { a: 1 }\nmodels: []\n")]);
    let loaded = folder.load(&[]).unwrap();
    assert!(loaded.warnings[0].contains("scene.yaml:1:15: parameter `a` has no effect"), "{:?}", loaded.warnings);
}

const ARM: &str = "<robot name='arm'><link name='base'/>
<link name='upper'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>
<link name='lower'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>
<joint name='a' type='revolute'><parent link='base'/><child link='upper'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>
<joint name='b' type='revolute'><parent link='upper'/><child link='lower'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>";

/// Positions of an SRDF's group states are the initial ones, unless `joints` gives them.
#[test]
fn a_group_state_sets_the_initial_positions() {
    let srdf = "<robot name='arm'><group_state name='home' group='g'><joint name='a' value='0.5'/></group_state>
<group_state name='home' group='h'><joint name='b' value='-0.25'/></group_state>
<group_state name='far' group='h'><joint name='b' value='1.5'/></group_state>
<group_state name='gone' group='h'><joint name='c' value='1.5'/></group_state></robot>";
    let with = |model: &str| {
        let scene = format!("models: [{{ name: arm, urdf: arm.urdf, srdf: arm.srdf, weld: {{}}, {model} }}]\n");
        Folder::new("group_state", &[("scene.yaml", scene.as_str()), ("arm.urdf", ARM), ("arm.srdf", srdf)])
    };
    assert_eq!(with("group_state: home").load(&[]).unwrap().initial.q, [0.5, -0.25]);
    assert_eq!(with("group_state: [home], joints: { b: 0.75 }").load(&[]).unwrap().initial.q, [0.5, 0.75]);
    for (model, way_out) in [
        ("group_state: hme", "scene.yaml:1:78: there is no group state in"),
        ("group_state: hme", "did you mean `home`?"),
        (
            "group_state: far",
            "arm.srdf:3: group state `far`: the position 1.5 of joint `b` is beyond its limits -1 to 1",
        ),
        ("group_state: gone", "arm.srdf:4: group state `gone`: the robot has no joint `c`"),
        ("group_state: 3", "a text"),
    ] {
        let message = with(model).refusal(&[]);
        assert!(message.contains(way_out), "{message}\nexpected: {way_out}");
    }
    let broken = srdf.replace("'0.5'", "'half'");
    let files = [
        ("scene.yaml", "models: [{ name: arm, urdf: arm.urdf, srdf: arm.srdf, weld: {} }]\n"),
        ("arm.urdf", ARM),
        ("arm.srdf", broken.as_str()),
    ];
    let message = Folder::new("group_state_broken", &files).refusal(&[]);
    assert!(message.contains("arm.srdf:1: <joint> `value=\"half\"` is not a finite number"), "{message}");
}

/// The address of a scene that may not be read is not followed.
#[test]
fn an_include_stays_within_the_allowed_folders() {
    let files = [("scene.yaml", "include: ../secret.yaml\nmodels: []\n")];
    let folder = Folder::new("include_bounds", &files);
    let packages = PackageMap::new().within([folder.0.clone()]);
    let error = scene_file::load(&folder.0.join("scene.yaml"), &packages).unwrap_err();
    assert!(chain(&error).contains("file_access"), "{}", chain(&error));
}
