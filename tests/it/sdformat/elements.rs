//! The elements that are read, each in a small file.

use std::f64::consts::{FRAC_PI_2, PI};

use isobar::geometry::Shape;
use isobar::math::{Rotation, Vector3};
use isobar::multibody::JointKind;
use isobar::robot::RobotDescription;

use super::{ROUNDING, assert_at, fixture, joint, link, load, model, pose};

fn read(elements: &str) -> RobotDescription {
    load(&model(elements)).unwrap()
}

/// Poses in other frames, frames, includes by folder and by `model://`, models inside models, placement
/// frames: positions by hand.
#[test]
fn frames_includes_and_nested_models() {
    let cart = fixture("cart.sdf");
    assert_at(&pose(&cart, "left::rim"), [0.3, 0.25, -0.1], [0.0; 3]);
    assert_at(&pose(&cart, "right::rim"), [0.3, -0.3, -0.1], [0.0, 0.0, PI]);
    assert_at(&pose(&cart, "mast::top"), [0.0, -0.25, 0.6], [FRAC_PI_2, 0.0, 0.0]);
    let spin = cart.joint("spin_left").unwrap();
    assert_eq!((spin.kind, spin.parent.as_str(), spin.child.as_str()), (JointKind::Continuous, "body", "spin_left"));
    assert_at(&spin.X_PF, [0.3, 0.2, -0.1], [0.0; 3]);
    let (right, leader) = (cart.joint("spin_right").unwrap(), Vector3::y());
    // The hub of the right wheel is turned by half a turn, so the model's y is its -y.
    assert!((right.axis + leader).amax() < ROUNDING, "{}", right.axis);
    let mimic = right.mimic.as_ref().unwrap();
    // multiplier (position of the leader - reference) + offset = 2 q - 0.2 + 0.3.
    assert_eq!((mimic.joint.as_str(), mimic.multiplier), ("spin_left", 2.0));
    assert!((mimic.offset - 0.1).abs() < 1e-15);
    assert_eq!(cart.joint("mast_joint").unwrap().child, "mast::top");
    assert!((cart.total_mass() - 5.3).abs() < 1e-12);
    let Shape::Mesh(tyre) = &cart.link("left::rim").unwrap().collisions[0].shape else { panic!("a mesh") };
    assert!(tyre.vertices.iter().all(|vertex| vertex.amax() <= 0.1));
    assert_eq!(cart.warnings, Vec::new());
}

/// A joint frame that is not the child's gives a link of its own, so that the child keeps its frame: the
/// child turns about the joint's axis and not about its own origin.
#[test]
fn a_joint_frame_beside_the_child_keeps_the_childs_frame() {
    let hinge = joint("revolute", "<pose>0 -0.5 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>");
    let door = read(&(link("a", "") + &link("b", "<pose>1 2 3 0 0 0</pose>") + &hinge));
    let joint = door.joint("j").unwrap();
    assert_at(&joint.X_PF, [1.0, 1.5, 3.0], [0.0; 3]);
    let turned = joint.X_PF * Rotation::from_euler_angles(0.0, 0.0, FRAC_PI_2);
    let fixed = door.joints.iter().find(|joint| joint.child == "b").unwrap();
    assert_eq!((fixed.kind, fixed.parent.as_str()), (JointKind::Fixed, "j"));
    assert_at(&(turned * fixed.X_PF), [0.5, 1.5, 3.0], [0.0, 0.0, FRAC_PI_2]);
}

/// Joint types, limits, losses and their defaults.
#[test]
fn joints() {
    let of = |kind: &str, elements: &str| read(&(link("a", "") + &link("b", "") + &joint(kind, elements)));
    let limits = "<limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort><velocity>2</velocity></limit>";
    let robot = of("revolute", &format!("<axis>{limits}</axis>"));
    let free = robot.joint("j").unwrap();
    assert_eq!((free.axis, free.limits.lower, free.limits.upper), (Vector3::z(), None, None));
    assert_eq!((free.limits.effort, free.limits.velocity), (None, Some(2.0)));
    let robot = of("universal", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 2 0</xyz></axis2>");
    let axes: Vec<_> = robot.joints.iter().map(|joint| (joint.name.as_str(), joint.axis, joint.kind)).collect();
    assert_eq!(axes, [("j_1", Vector3::x(), JointKind::Revolute), ("j_2", Vector3::y(), JointKind::Revolute)]);
    assert_eq!((robot.joints[0].child.as_str(), robot.joints[1].child.as_str()), ("j::1", "b"));
    let robot = of("ball", "<axis><dynamics><damping>0.3</damping></dynamics></axis>");
    assert_eq!((robot.num_dofs(), robot.joints[2].damping), (3, 0.3));
    assert_eq!(robot.joints.iter().map(|joint| joint.axis).sum::<Vector3>(), Vector3::new(1.0, 1.0, 1.0));
    assert!(robot.warnings[0].message.contains("ball joint"));
    for kind in ["fixed", "prismatic", "continuous"] {
        let robot = of(kind, "<axis><xyz>1 0 0</xyz><limit><lower>0</lower><upper>1</upper></limit></axis>");
        assert_eq!(robot.joints[0].kind.name(), kind);
        assert_eq!(robot.joints[0].limits.upper, (kind == "prismatic").then_some(1.0));
    }
    let old = "<sdf version='1.6'><model name='m'>".to_owned()
        + &link("a", "")
        + &link("b", "<pose frame=''>0 0 0 1.5707963267948966 0 0</pose>")
        + &joint("revolute", "<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>")
        + "</model></sdf>";
    // The model's y is -z of a link that is turned about x by a right angle.
    assert!((load(&old).unwrap().joints[0].axis + Vector3::z()).amax() < ROUNDING);
}

/// Shapes, colours, friction and Drake's contact properties.
#[test]
fn geometries() {
    let shapes = [
        ("<box><size>1 2 3</size></box>", Shape::Box { size: Vector3::new(1.0, 2.0, 3.0) }),
        ("<sphere><radius>0.2</radius></sphere>", Shape::Sphere { radius: 0.2 }),
        ("<cylinder><radius>0.2</radius><length>0.3</length></cylinder>", Shape::Cylinder { radius: 0.2, length: 0.3 }),
        ("<capsule><radius>0.2</radius><length>0.3</length></capsule>", Shape::Capsule { radius: 0.2, length: 0.3 }),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", Shape::Ellipsoid { semi_axes: Vector3::new(1.0, 2.0, 3.0) }),
        (
            "<drake:ellipsoid><a>1</a><b>2</b><c>3</c></drake:ellipsoid>",
            Shape::Ellipsoid { semi_axes: Vector3::new(1.0, 2.0, 3.0) },
        ),
    ];
    for (text, shape) in shapes {
        let both = format!(
            "<collision name='c'><geometry>{text}</geometry></collision>
             <visual name='v'><geometry>{text}</geometry><transparency>0.5</transparency>
             <material><diffuse>1 0.5 0 1</diffuse><ambient>1 1 1 1</ambient></material></visual>"
        );
        let robot = read(&link("a", &both));
        assert_eq!(robot.links[0].collisions[0].shape, shape);
        assert_eq!(robot.links[0].visuals[0].shape, Some(shape));
        assert_eq!(robot.links[0].visuals[0].color, Some([1.0, 0.5, 0.0, 0.5]));
        assert_eq!(robot.warnings, Vec::new());
    }
    let plane = "<static>true</static><link name='a'><collision name='c'><pose>0 0 1 0 0 0</pose>
                 <geometry><plane><normal>1 0 0</normal></plane></geometry></collision></link>";
    let robot = read(plane);
    let wall = &robot.link("a").unwrap().collisions[0];
    assert_eq!(wall.shape, Shape::HalfSpace);
    assert!((wall.X_BG * Vector3::z() - Vector3::x()).amax() < ROUNDING);
    let properties = "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>
        <surface><friction><ode><mu>0.9</mu></ode></friction></surface>
        <drake:proximity_properties><drake:rigid_hydroelastic/><drake:mu_dynamic>0.4</drake:mu_dynamic>
        <drake:mesh_resolution_hint>0.1</drake:mesh_resolution_hint></drake:proximity_properties></collision>";
    let read_properties = &read(&link("a", properties)).links[0].collisions[0].properties;
    assert_eq!((read_properties.compliant, read_properties.mu_dynamic), (Some(false), Some(0.4)));
    assert_eq!(read_properties.mesh_resolution_hint, Some(0.1));
}

/// Roots: a link beside the model's frame, several links, static models, joints to the world, worlds.
#[test]
fn every_model_is_one_tree() {
    let offset = read(&link("a", "<pose>1 0 0 0 0 0</pose>"));
    assert_eq!(offset.root().unwrap().name, "m");
    assert_at(&pose(&offset, "a"), [1.0, 0.0, 0.0], [0.0; 3]);
    let two = read(&(link("a", "") + &link("b", "<pose>1 0 0 0 0 0</pose>")));
    assert_eq!((two.root().unwrap().name.as_str(), two.joints[0].kind), ("a", JointKind::Floating));
    assert_at(&pose(&two, "b"), [1.0, 0.0, 0.0], [0.0; 3]);
    let elements = "<static>true</static>".to_owned()
        + "<link name='a'/>"
        + "<link name='b'/>"
        + &joint("revolute", "<axis><xyz>0 0 1</xyz></axis>");
    let fixed = read(&elements);
    assert_eq!((fixed.root().unwrap().name.as_str(), fixed.num_dofs()), ("world", 0));
    assert!(fixed.warnings[0].message.contains("`j`"), "{:?}", fixed.warnings);
    assert!(fixed.links.iter().all(|link| link.inertial.is_none()), "static links need no inertia");
    let held = read(
        &(link("b", "")
            + "<joint name='j' type='fixed'><parent>world</parent><child>b</child><pose>0 0 1 0 0 0</pose></joint>"),
    );
    assert_eq!((held.root().unwrap().name.as_str(), held.num_dofs()), ("world", 0));
    let world = load(
        "<sdf version='1.8'><world name='w'><gravity>0 0 -9.8</gravity><include><uri>models/wheel</uri><pose>1 0 0 0 0 0</pose>
         </include><model name='table'><static>1</static><link name='top'/></model></world></sdf>",
    )
    .unwrap();
    assert_eq!(world.joint("wheel::rim_free").unwrap().kind, JointKind::Floating);
    assert_eq!(world.joint("table::top_static").unwrap().kind, JointKind::Fixed);
    assert_at(&pose(&world, "wheel::rim"), [1.0, 0.1, 0.0], [0.0; 3]);
    let merged = load(
        "<sdf version='1.10'><model name='w'><include merge='true'><uri>models/wheel</uri><pose>1 0 0 0 0 0</pose></include>
         <frame name='f'><pose relative_to='hub'/></frame></model></sdf>",
    )
    .unwrap();
    assert_at(&pose(&merged, "rim"), [1.0, 0.1, 0.0], [0.0; 3]);
}

/// `self_collide` that a file states is followed: links of the model do not touch each other.
#[test]
fn links_that_do_not_collide_are_a_group() {
    let parts = link("a", "") + &link("b", "") + &link("c", "<self_collide>true</self_collide>");
    let silent = read(&parts);
    assert!(silent.collision_filter_groups.is_empty());
    let robot = read(&format!("<self_collide>false</self_collide>{parts}"));
    let group = &robot.collision_filter_groups[0];
    assert_eq!(
        (group.members.as_slice(), group.ignored_groups[0] == group.name),
        (["a", "b"].map(String::from).as_slice(), true)
    );
    let stated = "<drake:collision_filter_group name='g'><drake:member>a</drake:member>
                  <drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group></drake:collision_filter_group>";
    let robot = read(&(parts.clone() + stated));
    assert_eq!(robot.collision_filter_groups[0].members, ["a"]);
}

/// Elements without effect give one warning with their numbers; elements for the display give none.
#[test]
fn unused_elements_are_counted_once() {
    let sensors =
        "<sensor name='s' type='imu'/><sensor name='t' type='imu'/><gravity>0</gravity><kinematic>false</kinematic>";
    let robot = read(&(link("a", sensors) + "<plugin name='p' filename='q'/>"));
    assert_eq!(robot.warnings.len(), 1);
    let message = robot.warnings[0].to_string();
    for part in ["test.sdf:2", "<link><sensor> (2,", "<link><gravity> (1,", "<model><plugin> (1,"] {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    assert!(!message.contains("kinematic"), "{message}");
    let silent = read("<link name='a'/>");
    assert!(silent.warnings[0].message.contains("default of 1 kg"), "{:?}", silent.warnings);
    assert_eq!(silent.total_mass(), 1.0);
}
