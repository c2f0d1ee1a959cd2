//! Forms that are not in the standard and that other programs read: each is read with a warning.

use isobar::geometry::Shape;
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{BodyIndex, Index, Vector3};
use isobar::multibody::JointKind;
use isobar::stepping::JointCommand;

use super::{load, robot};
use crate::scene_file::chain;

const MASS: &str = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";

fn warnings(elements: &str) -> (isobar::robot::RobotDescription, String) {
    let loaded = load(&robot(elements)).unwrap_or_else(|error| panic!("{elements}\n{error}"));
    let text = loaded.warnings.iter().map(|warning| format!("{warning}\n")).collect();
    (loaded, text)
}

/// Oracle: Bullet reads commas as blanks and the first three of four numbers; Drake scales a mesh by one
/// number along all axes.
#[test]
fn rows_of_numbers_are_read_as_other_programs_read_them() {
    let (loaded, said) = warnings(
        "<link name='a'>\n<collision><origin xyz='1, 2,3' rpy='0 0 0 0'/><geometry><mesh filename='package://toy/meshes/cube.obj' scale='0.5'/>
</geometry></collision><visual><geometry><box size='1, 2, 3'/></geometry><material name='m'><color rgba='1 0 0'/></material></visual></link>",
    );
    let collision = &loaded.links[0].collisions[0];
    assert_eq!(collision.X_BG.translation.vector, Vector3::new(1.0, 2.0, 3.0));
    let (whole, _) = warnings(
        "<link name='a'><collision><geometry><mesh filename='package://toy/meshes/cube.obj'/></geometry></collision></link>",
    );
    let (Shape::Mesh(half), Shape::Mesh(whole)) = (&collision.shape, &whole.links[0].collisions[0].shape) else {
        panic!()
    };
    assert!(half.vertices.iter().zip(&whole.vertices).all(|(half, whole)| *half == whole * 0.5));
    assert_eq!(loaded.links[0].visuals[0].shape, Some(Shape::Box { size: Vector3::new(1.0, 2.0, 3.0) }));
    assert_eq!(loaded.links[0].visuals[0].color, Some([1.0, 0.0, 0.0, 1.0]));
    for expected in [
        "test.urdf:3: link `a`, <collision>, <origin>: `xyz=\"1, 2,3\"`: commas are read as blanks; remove them",
        "`rpy=\"0 0 0 0\"`: the first three numbers are read; write \"0 0 0\"",
        "<mesh>: `scale=\"0.5\"`: it is used along x, y and z; write \"0.5 0.5 0.5\"",
        "<color>: `rgba=\"1 0 0\"`: an alpha of 1 is added; write \"1 0 0 1\"",
    ] {
        assert!(said.contains(expected), "{said}\nexpected: {expected}");
    }
}

/// Forms without a plain meaning are refused.
#[test]
fn rows_without_a_plain_meaning_are_refused() {
    for origin in ["xyz='0,5 0'", "xyz='1 2 3 4 5'", "xyz='1;2;3'", "xyz='1 2'"] {
        let text = robot(&format!(
            "<link name='a'><collision><origin {origin}/><geometry><sphere radius='1'/></geometry></collision></link>"
        ));
        let message = load(&text).unwrap_err().to_string();
        assert!(message.contains("test.urdf:2: link `a`, <collision>, <origin>: `xyz="), "{message}");
    }
}

/// Oracle: Bullet does not limit a joint whose lower limit is above its upper one.
#[test]
fn limits_without_a_position_between_them_are_none() {
    let (loaded, said) = warnings(
        "<link name='a'/><link name='b'/>\n<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n<limit lower='1' upper='-1' effort='3' velocity='2'/></joint>",
    );
    let limits = &loaded.joints[0].limits;
    assert_eq!((limits.lower, limits.upper, limits.effort, limits.velocity), (None, None, Some(3.0), Some(2.0)));
    assert!(
        said.contains("test.urdf:4: joint `j`, <limit>: `lower` 1 is above `upper` -1; the position is not limited"),
        "{said}"
    );
}

/// Oracle: Drake adds the world that a joint names as its parent.
#[test]
fn the_world_may_be_left_out() {
    let (loaded, said) =
        warnings("<link name='a'/>\n<joint name='j' type='fixed'><parent link='world'/><child link='a'/></joint>");
    assert_eq!(loaded.root().map(|link| link.name.as_str()), Some("world"));
    assert_eq!(loaded.joints[0].kind, JointKind::Fixed);
    assert!(said.contains("test.urdf:3: joint `j`: the file has no link `world`"), "{said}");
    let message =
        load(&robot("<link name='a'/>\n<joint name='j' type='fixed'><parent link='wrld'/><child link='a'/></joint>"))
            .unwrap_err();
    assert!(message.to_string().contains("there is no parent link `wrld`"), "{message}");
}

/// Oracle: Drake takes spheres of radius 0 as points of contact. A body of 1 kg on four of them rests on a
/// plane: the ball that stands for a point has a radius of 0.1 mm, and sinks in by much less.
#[test]
fn spheres_without_a_radius_carry_a_body() {
    let point = |x: i32, y: i32| {
        format!(
            "<collision name='p{x}{y}'><origin xyz='0.{x} 0.{y} -0.1'/><geometry><sphere radius='0'/></geometry></collision>"
        )
    };
    let points: String = [(1, 1), (1, 3), (3, 1), (3, 3)].map(|(x, y)| point(x, y)).concat();
    let inertial = "<inertial><origin xyz='0.2 0.2 0'/><mass value='1'/><inertia ixx='0.01' ixy='0' ixz='0' iyy='0.01' iyz='0' izz='0.01'/></inertial>";
    let text = robot(&format!("<link name='a'>\n{inertial}{points}</link>"));
    let loaded = load(&text).unwrap();
    assert_eq!(loaded.warnings.len(), 4);
    assert!(
        loaded.warnings[0]
            .to_string()
            .contains("test.urdf:3: link `a`, <collision> `p11`: a sphere of radius 0 is a point")
    );
    let folder = std::env::temp_dir().join(format!("isobar_points_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("points.urdf"), text).unwrap();
    let scene = "ground: {}\nmodels: [{ name: a, urdf: points.urdf, free: { xyz: [0, 0, 0.1001] } }]\n";
    let loaded = scene_file::load_str(scene, &folder.join("scene.yaml"), &PackageMap::new()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let (mut simulation, command) = (loaded.simulation().unwrap(), JointCommand::new(&loaded.scene));
    for _ in 0..500 {
        assert!(simulation.step(&command).unwrap().solver_converged);
    }
    let height = simulation.state().q[6];
    assert!((height - 0.1001).abs() < 1e-6, "{:?}", simulation.state().q);
}

/// If a joint of a free robot has the name of its root link, the two joints have different names.
#[test]
fn a_joint_may_be_called_as_the_free_root() {
    let text = robot(&format!(
        "<link name='base'>{MASS}</link><link name='b'>{MASS}</link>\n<joint name='base' type='continuous'><parent link='base'/><child link='b'/></joint>"
    ));
    let scene = scene_of(&text, "free: {}").unwrap();
    let names: Vec<_> = scene.scene.model().joints().iter().map(|joint| joint.name.clone()).collect();
    assert_eq!(names, ["base", "base_free"]);
}

fn scene_of(urdf: &str, base: &str) -> Result<scene_file::LoadedScene, scene_file::SceneError> {
    let folder =
        std::env::temp_dir().join(format!("isobar_habits_{}_{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("robot.urdf"), urdf).unwrap();
    let scene = format!("models: [{{ name: a, urdf: robot.urdf, {base} }}]\n");
    let loaded = scene_file::load_str(&scene, &folder.join("scene.yaml"), &PackageMap::new());
    std::fs::remove_dir_all(&folder).unwrap();
    loaded
}

/// Links that move without mass get a small one, with a warning; links that carry mass, that a fixed joint
/// holds, or whose motor has inertia get none.
#[test]
fn links_that_move_without_mass_get_a_small_one() {
    let joint = |name: &str, kind: &str, parent: &str, child: &str, rest: &str| {
        format!(
            "<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/><axis xyz='0 0 1'/>{rest}</joint>\n"
        )
    };
    let motor = "<actuator name='m'><drake:rotor_inertia value='1e-4'/></actuator>";
    let links = format!(
        "<link name='base'>{MASS}</link><link name='carrier'/><link name='hand'>{MASS}</link><link name='tool'/><link name='eye'/>\n<link name='fan'/>"
    );
    let text = robot(
        &(links
            + &joint("i", "continuous", "base", "carrier", "")
            + &joint("j", "continuous", "carrier", "hand", "<origin xyz='0 0 0' rpy='1 0 0'/>")
            + &joint("k", "fixed", "hand", "tool", "")
            + &joint("l", "continuous", "hand", "eye", "")
            + &joint("m", "continuous", "hand", "fan", motor)),
    );
    let loaded = scene_of(&text, "free: {}").unwrap();
    let said: Vec<&String> = loaded.warnings.iter().filter(|warning| warning.contains("no mass")).collect();
    assert!(said.len() == 1, "{said:?}");
    assert!(said[0].contains(
        "robot.urdf:2: link `eye`: it has no mass, and joint `l` moves it; 0.001 kg and 1e-7 kg m2 are used"
    ));
    let mut simulation = loaded.simulation().unwrap();
    assert!(simulation.step(&JointCommand::new(&loaded.scene)).unwrap().solver_converged);
    let lone = robot("<link name='lone'/>");
    assert!(scene_of(&lone, "weld: {}").unwrap().warnings.is_empty());
    let free = scene_of(&lone, "free: {}").unwrap();
    assert!(free.warnings[0].contains("link `lone`: it has no mass, and it is free"), "{:?}", free.warnings);
    assert!(free.simulation().is_ok());
}

/// A mass without inertia is found at load, with the link's name and the place of the scene.
#[test]
fn a_singular_mass_matrix_is_found_at_load() {
    let text = robot("<link name='bob'><inertial><mass value='1'/></inertial></link>");
    let message = chain(&scene_of(&text, "free: {}").unwrap_err());
    assert!(message.contains("scene.yaml:1:10: ") && message.contains("'bob'"), "{message}");
}

/// A xacro file that is valid XML is refused as a xacro file.
#[test]
fn xacro_is_recognised() {
    for text in [
        robot("<xacro:include filename='a.xacro'/>"),
        robot("<link name='a'><collision><geometry>\n<sphere radius='${r}'/></geometry></collision></link>"),
        robot("<link name='$(arg name)'/>"),
    ] {
        let message = load(&text).unwrap_err().to_string();
        assert!(
            message.contains("test.urdf:") && message.contains("this is a xacro file; name it FILE.xacro"),
            "{message}"
        );
    }
}

/// A file that ends in `.xacro` is expanded by the program `xacro`, with the arguments of the scene. Without
/// the program, and for a file that it refuses, the error says what to do.
#[test]
fn xacro_files_are_expanded() {
    let folder = std::env::temp_dir().join(format!("isobar_xacro_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("ball.urdf.xacro");
    let text = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arg name='mass' default='1'/>
        <xacro:arg name='fail' default='0'/>
        <link name='ball'><inertial><mass value='${$(arg mass) / (1 - $(arg fail))}'/>
        <inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>";
    std::fs::write(&file, text).unwrap();
    let load = |arguments: &str| {
        let text = format!("models: [{{ name: m, urdf: ball.urdf.xacro, xacro_arguments: {arguments}, free: {{}} }}]");
        scene_file::load_str(&text, &folder.join("scene.yaml"), &PackageMap::new())
    };
    match load("{ mass: 2.5 }") {
        Ok(loaded) => {
            assert_eq!(loaded.scene.model().bodies()[BodyIndex::from_usize(1)].inertia.mass, 2.5);
            let message = chain(&load("{ fail: 1 }").unwrap_err());
            assert!(message.contains("scene.yaml:1:") && message.contains("division by zero"), "{message}");
            std::fs::copy(&file, folder.join("ball.urdf")).unwrap();
            let text = "models: [{ name: m, urdf: ball.urdf, xacro_arguments: { mass: 1 }, free: {} }]";
            let refused = scene_file::load_str(text, &folder.join("scene.yaml"), &PackageMap::new()).unwrap_err();
            assert!(chain(&refused).contains("takes no arguments"), "{}", chain(&refused));
        }
        Err(error) => {
            let message = chain(&error);
            assert!(message.contains("pip install xacro"), "{message}");
            crate::golden::skip("install the Python package xacro");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Links that turn without inertia about their own axis get a small one: frames without mass between three
/// joints of a hip, and point masses on the axis. The bob of a pendulum keeps its own.
#[test]
fn links_without_inertia_about_their_axis_get_one() {
    let point = "<inertial><mass value='2'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial>";
    let bob = point.replace("<mass", "<origin xyz='0 0 -1'/><mass");
    let text = robot(&format!(
        "<link name='base'/><link name='hip'/><link name='side'/><link name='leg'>{point}</link><link name='foot'>{MASS}</link>
        <link name='rod'>{bob}</link>
        <joint name='z' type='continuous'><axis xyz='0 0 1'/><parent link='base'/><child link='hip'/></joint>
        <joint name='x' type='continuous'><axis xyz='1 0 0'/><parent link='hip'/><child link='side'/></joint>
        <joint name='w' type='continuous'><axis xyz='0 1 0'/><parent link='side'/><child link='leg'/></joint>
        <joint name='y' type='continuous'><axis xyz='0 1 0'/><parent link='leg'/><child link='foot'/></joint>
        <joint name='pivot' type='continuous'><axis xyz='0 1 0'/><parent link='base'/><child link='rod'/></joint>"
    ));
    let loaded = scene_of(&text, "weld: {}").unwrap();
    let about = |name: &str| loaded.warnings.iter().find(|w| w.contains(name) && w.contains("about the axis")).cloned();
    let hip = about("link `hip`").expect("a warning");
    assert!(hip.contains("no mass about the axis of its joint `z`") && hip.contains("0.001 kg"), "{hip}");
    let leg = about("link `leg`").expect("a warning");
    assert!(leg.contains("no inertia about the axis of its joint `w`") && leg.contains("2.000e-4"), "{leg}");
    assert_eq!(about("link `rod`"), None);
    // A fixed joint between two links without mass, and the mass of a link on a fixed one
    let text = robot(&format!(
        "<link name='base'/><link name='hip'/><link name='mount'/><link name='side'/><link name='leg'>{MASS}</link>
        <link name='wheel'/><link name='rim'>{point}</link>
        <joint name='z' type='continuous'><axis xyz='0 0 1'/><parent link='base'/><child link='hip'/></joint>
        <joint name='f' type='fixed'><parent link='hip'/><child link='mount'/></joint>
        <joint name='x' type='continuous'><axis xyz='1 0 0'/><parent link='mount'/><child link='side'/></joint>
        <joint name='y' type='continuous'><axis xyz='0 1 0'/><parent link='side'/><child link='leg'/></joint>
        <joint name='turn' type='continuous'><axis xyz='0 0 1'/><parent link='base'/><child link='wheel'/></joint>
        <joint name='g' type='fixed'><parent link='wheel'/><child link='rim'/></joint>"
    ));
    let loaded = scene_of(&text, "weld: {}").unwrap();
    for name in ["`hip`", "`side`", "`wheel`"] {
        let found =
            loaded.warnings.iter().filter(|warning| warning.contains(name) && warning.contains("about the axis"));
        assert_eq!(found.count(), 1, "{name}: {:?}", loaded.warnings);
    }
}
