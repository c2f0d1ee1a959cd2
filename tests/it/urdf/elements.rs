//! Every element of a robot file is read into its field.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::io::srdf;
use isobar::io::urdf::{LoadOptions, load_file};
use isobar::math::{Matrix3, RigidTransform, Vector3};
use isobar::multibody::JointKind;
use isobar::robot::{ControllerGains, Limits, RobotDescription};

use super::{golden, load, packages, robot};

fn arm() -> RobotDescription {
    load_file(&golden().join("arm.urdf"), &packages(), &LoadOptions::default()).unwrap()
}

/// Roll, pitch, yaw about fixed axes, written out: R = Rz(yaw) Ry(pitch) Rx(roll).
fn rotation(roll: f64, pitch: f64, yaw: f64) -> Matrix3 {
    let x = Matrix3::new(1.0, 0.0, 0.0, 0.0, roll.cos(), -roll.sin(), 0.0, roll.sin(), roll.cos());
    let y = Matrix3::new(pitch.cos(), 0.0, pitch.sin(), 0.0, 1.0, 0.0, -pitch.sin(), 0.0, pitch.cos());
    let z = Matrix3::new(yaw.cos(), -yaw.sin(), 0.0, yaw.sin(), yaw.cos(), 0.0, 0.0, 0.0, 1.0);
    z * y * x
}

/// Three products of numbers below one: a few roundings.
fn assert_pose(X: &RigidTransform, p: [f64; 3], rpy: [f64; 3]) {
    assert_eq!(X.translation.vector, Vector3::from(p));
    let error = (X.rotation.matrix() - rotation(rpy[0], rpy[1], rpy[2])).norm();
    assert!(error < 1e-15 * 10.0, "{error}");
}

#[test]
fn inertials_arrive() {
    let arm = arm();
    assert!(arm.link("base").unwrap().inertial.is_none());
    let inertial = arm.link("upper").unwrap().inertial.clone().unwrap();
    assert_eq!(inertial.mass, 2.5);
    assert_pose(&inertial.X_BI, [0.1, 0.2, 0.3], [0.1, -0.2, 0.3]);
    assert_eq!(inertial.inertia_I, Matrix3::new(0.03, 0.001, 0.002, 0.001, 0.04, 0.003, 0.002, 0.003, 0.05));
    assert_eq!(arm.total_mass(), 2.5);
}

#[test]
fn joints_arrive() {
    let arm = arm();
    let kinds: Vec<JointKind> = arm.joints.iter().map(|joint| joint.kind).collect();
    use JointKind::{Continuous, Fixed, Floating, Planar, Prismatic, Revolute};
    assert_eq!(kinds, [Revolute, Revolute, Prismatic, Planar, Floating, Continuous, Fixed]);
    assert_eq!(arm.num_dofs(), 1 + 1 + 1 + 3 + 6 + 1);
    assert_eq!(arm.root().unwrap().name, "base");
    let shoulder = arm.joint("shoulder").unwrap();
    assert_eq!((shoulder.parent.as_str(), shoulder.child.as_str()), ("base", "upper"));
    assert_pose(&shoulder.X_PF, [0.0, 0.0, 0.5], [0.3, 0.2, 0.1]);
    assert_eq!(shoulder.axis, Vector3::z(), "normalized");
    let limits =
        Limits { lower: Some(-1.0), upper: Some(2.0), velocity: Some(3.0), effort: Some(4.0), acceleration: Some(5.0) };
    assert_eq!(shoulder.limits, limits);
    assert_eq!((shoulder.damping, shoulder.friction), (0.6, 0.7));
    assert_eq!((shoulder.rotor_inertia, shoulder.gear_ratio), (1e-5, 100.0));
    assert!((shoulder.reflected_inertia() - 0.1).abs() < 1e-15, "100^2 * 1e-5");
    assert_eq!(shoulder.controller_gains, Some(ControllerGains { p: 300.0, d: 20.0 }));
    assert_eq!(shoulder.line, 50);
}

/// The documented rules of the reader decide about missing parts of a file.
#[test]
fn missing_parts_of_joints_have_documented_values() {
    let arm = arm();
    let elbow = arm.joint("elbow").unwrap();
    assert_eq!(elbow.axis, Vector3::x());
    assert_eq!(elbow.limits, Limits::default());
    assert_eq!((elbow.rotor_inertia, elbow.gear_ratio), (0.0, 1.0));
    let mimic = elbow.mimic.clone().unwrap();
    assert_eq!((mimic.joint.as_str(), mimic.multiplier, mimic.offset), ("shoulder", -2.0, 0.1));
    assert!(arm.warnings.iter().any(|w| w.element == "joint `elbow`" && w.message.contains("no <limit>")));
    let slide = arm.joint("slide").unwrap();
    assert_eq!((slide.limits.lower, slide.limits.upper), (Some(0.0), None), "infinite is no limit");
    assert_eq!(slide.axis, Vector3::x());
    let spin = arm.joint("spin").unwrap();
    assert_eq!((spin.limits.lower, spin.limits.upper), (None, None), "continuous joints have no position limits");
    assert_eq!((spin.limits.velocity, spin.limits.effort), (Some(2.0), Some(1.0)));
}

#[test]
fn collision_shapes_arrive() {
    let arm = arm();
    let collisions = &arm.link("upper").unwrap().collisions;
    assert_pose(&collisions[0].X_BG, [1.0, 2.0, 3.0], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
    assert_eq!(collisions[0].shape, Shape::Ellipsoid { semi_axes: Vector3::new(0.1, 0.2, 0.3) });
    assert_eq!(collisions[1].shape, Shape::Capsule { radius: 0.05, length: 0.4 });
    assert_eq!(collisions[2].shape, Shape::Box { size: Vector3::new(1.0, 2.0, 3.0) });
    assert_eq!(collisions[3].shape, Shape::Cylinder { radius: 0.1, length: 0.5 });
    assert_eq!(collisions[4].shape, Shape::Sphere { radius: 0.2 });
    assert!(
        matches!(&collisions[5].shape, Shape::Convex(mesh) if mesh.vertices.len() == 8) && collisions[5].declare_convex
    );
    assert!(matches!(&collisions[6].shape, Shape::Volume { mesh, pressure: Some(_) } if mesh.tets.len() == 2));
    assert_eq!(collisions[0].name, "bubble");
    assert_eq!(collisions[1].name, "upper_collision_1");
}

#[test]
fn contact_properties_arrive() {
    let arm = arm();
    let collisions = &arm.link("upper").unwrap().collisions;
    let expected = ContactProperties {
        compliant: Some(true),
        hydroelastic_modulus: Some(1e4),
        mesh_resolution_hint: Some(0.01),
        slab_thickness: None,
        wrap: None,
        surface_tolerance: None,
        pressure_field: None,
        margin: Some(0.002),
        hunt_crossley_dissipation: Some(1.25),
        relaxation_time: Some(0.1),
        mu_dynamic: Some(0.7),
        mu_static: Some(0.8),
        point_contact_stiffness: Some(1000.0),
        surface_velocity: None,
        torsional_radius: None,
        rolling_friction: None,
        restitution: None,
    };
    assert_eq!(collisions[0].properties, expected);
    assert_eq!(collisions[1].properties, ContactProperties { compliant: Some(false), ..Default::default() });
    assert_eq!(collisions[2].properties, ContactProperties::default());
    let typo = arm.warnings.iter().find(|warning| warning.element.contains("drake:mu_dynamik")).unwrap();
    assert!(typo.message.contains("did you mean `drake:mu_dynamic`?"), "{typo}");
    assert_eq!(typo.line, 29);
}

/// Elements that are neither of the standard nor of Drake: springs, with the names of SDFormat, moving
/// surfaces, and properties of rigid points.
#[test]
fn springs_and_moving_surfaces_arrive() {
    let text = "<link name='a'><collision><geometry><box size='1 1 1'/></geometry><drake:proximity_properties>\
                <isobar:surface_velocity xyz='0.1 0 -2'/><isobar:torsional_radius value='0.002'/>\
                <isobar:rolling_friction value='0.001'/><isobar:restitution value='0.5'/></drake:proximity_properties></collision></link><link name='b'/>\
                <joint name='j' type='continuous'><parent link='a'/><child link='b'/>\
                <dynamics damping='0.1' spring_stiffness='2' spring_reference='-0.3'/></joint>";
    let robot = load(&robot(text)).unwrap();
    let moving = robot.link("a").unwrap().collisions[0].properties.surface_velocity;
    assert_eq!(moving, Some(Vector3::new(0.1, 0.0, -2.0)));
    let points = &robot.link("a").unwrap().collisions[0].properties;
    let points = (points.torsional_radius, points.rolling_friction, points.restitution);
    assert_eq!(points, (Some(0.002), Some(0.001), Some(0.5)));
    let joint = robot.joint("j").unwrap();
    assert_eq!((joint.damping, joint.spring.stiffness, joint.spring.reference), (0.1, 2.0, -0.3));
    let negative = text.replace("spring_stiffness='2'", "spring_stiffness='-2'");
    assert!(load(&self::robot(&negative)).unwrap_err().to_string().contains("spring_stiffness"));
}

/// Contradictory combinations give warnings.
#[test]
fn contradicting_contact_properties_are_warned_of() {
    let with = |properties: &str| {
        let collision = "<link name='a'><collision><geometry><sphere radius='1'/></geometry>";
        let properties = format!("<drake:proximity_properties>{properties}</drake:proximity_properties>");
        load(&robot(&format!("{collision}{properties}</collision></link>"))).unwrap().warnings
    };
    let rigid = with("<drake:rigid_hydroelastic/><drake:hydroelastic_modulus value='1'/>");
    assert!(rigid.len() == 1 && rigid[0].message.contains("remove one"));
    let friction = with("<drake:mu_static value='0.1'/><drake:mu_dynamic value='0.2'/>");
    assert!(friction.len() == 1 && friction[0].message.contains("swap"));
    let unused = with("<drake:mu_static value='0.3'/><drake:mu_dynamic value='0.2'/>");
    assert!(unused.len() == 1 && unused[0].message.contains("drake:mu_static 0.3 has no effect"));
    assert!(with("<drake:mu_static value='0.2'/><drake:mu_dynamic value='0.2'/>").is_empty());
    assert!(with("<drake:mu_static value='0.2'/>").is_empty());
}

#[test]
fn filter_groups_arrive() {
    let arm = arm();
    let [first, second] = &arm.collision_filter_groups[..] else { panic!("two groups") };
    assert_eq!((first.name.as_str(), first.ignore), ("arm", false));
    assert_eq!(first.members, ["upper", "lower"]);
    assert_eq!(first.ignored_groups, ["arm", "ends"]);
    assert_eq!((second.name.as_str(), second.ignore), ("ends", true));
    assert_eq!(
        (second.members.as_slice(), second.member_groups.as_slice()),
        (&["tip".into()][..], &["arm".into()][..])
    );
}

/// A visual never prevents loading: missing and unknown meshes give warnings.
#[test]
fn visuals_only_warn() {
    let arm = arm();
    let visual = &arm.link("upper").unwrap().visuals[0];
    assert_eq!(visual.shape, None);
    assert_eq!(visual.mesh.as_ref().map(|(uri, _)| uri.as_str()), Some("package://toy/meshes/nowhere.obj"));
    assert_eq!(visual.color, Some([0.0, 0.0, 1.0, 0.5]), "by the material's name");
    assert!(arm.warnings.iter().any(|warning| warning.message.contains("nowhere.obj")));
    for mesh in ["README.md", "gone.dae", "http://x/y.stl"] {
        let text = format!("<link name='a'><visual><geometry><mesh filename='{mesh}'/></geometry></visual></link>");
        assert_eq!(load(&robot(&text)).unwrap().warnings.len(), 1, "{mesh}");
    }
}

/// Prefixes without a declaration are common in robot files; so are leftover mimics of unknown joints.
#[test]
fn leftovers_of_other_tools_are_read() {
    let loaded = load(
        "<robot><sensor:camera xacro:if='1'/><link name='a'><collision><geometry>
           <drake:capsule radius='1' length='2'/></geometry></collision></link><link name='b'/>
         <joint name='j' type='fixed'><parent link='a'/><child link='b'/><mimic joint='gone'/></joint></robot>",
    )
    .unwrap();
    assert_eq!(loaded.name, "test", "of the file");
    assert_eq!(loaded.links[0].collisions[0].shape, Shape::Capsule { radius: 1.0, length: 2.0 });
    assert_eq!(loaded.joints[0].mimic, None);
    assert_eq!(loaded.warnings.len(), 2);
    let empty = load("<robot name='r'/>").unwrap();
    assert!(empty.root().is_none() && empty.warnings[0].message.contains("no links"));
}

/// Drake's planar joint moves in the plane normal to z; its motors may name joints that no longer exist.
#[test]
fn elements_that_drake_reads_otherwise() {
    let loaded = load(&robot(
        "<link name='a'/><link name='b'/>
         <drake:joint name='j' type='planar'><parent link='a'/><child link='b'/><axis xyz='1 0 0'/></drake:joint>
         <transmission><joint name='k'/><actuator><drake:gear_ratio value='2'/></actuator></transmission>
         <drake:linear_spring_damper/>",
    ))
    .unwrap();
    assert_eq!((loaded.joints[0].kind, loaded.joints[0].axis), (JointKind::Planar, Vector3::z()));
    let messages: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(messages.iter().any(|message| message.contains("test.urdf:4") && message.contains("joint `k`")));
    assert!(messages.iter().any(|message| message.contains("test.urdf:5") && message.contains("linear_spring_damper")));
}

#[test]
fn srdf_pairs_arrive() {
    let text =
        "<robot name='r'>\n<group name='g'/>\n<disable_collisions link1='a' link2='b' reason='Adjacent'/></robot>";
    let pairs = srdf::load_str(text, "r.srdf".as_ref()).unwrap().disabled_pairs;
    assert_eq!((pairs[0].link1.as_str(), pairs[0].link2.as_str()), ("a", "b"));
    assert_eq!((pairs[0].reason.as_str(), pairs[0].line), ("Adjacent", 3));
    let broken =
        [("<robot>", "r.srdf:1:"), ("<sdf/>", "<sdf>"), ("<robot><disable_collisions link1='a'/></robot>", "link2")];
    for (text, expected) in broken {
        let message = srdf::load_str(text, "r.srdf".as_ref()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// A mesh for tools that support only the standard, and the shape that it represents: the shape is used, in
/// either order.
#[test]
fn a_shape_is_taken_before_the_mesh_that_stands_for_it() {
    let mesh = |file: &str| format!("<mesh filename='package://toy/meshes/{file}'><drake:declare_convex/></mesh>");
    let ellipsoid = "<drake:ellipsoid a='1' b='2' c='3'/>";
    let read = |geometry: &str| {
        load(&robot(&format!("<link name='a'><collision><geometry>{geometry}</geometry></collision></link>"))).unwrap()
    };
    for (file, warnings) in [("cube.obj", 0), ("gone.obj", 1)] {
        for geometry in [mesh(file) + ellipsoid, ellipsoid.to_owned() + &mesh(file)] {
            let robot = read(&geometry);
            let collision = &robot.links[0].collisions[0];
            assert_eq!(collision.shape, Shape::Ellipsoid { semi_axes: Vector3::new(1.0, 2.0, 3.0) }, "{geometry}");
            assert!(!collision.declare_convex);
            let mesh_first = geometry.starts_with("<mesh");
            assert_eq!(robot.warnings.len(), if mesh_first { warnings } else { 0 }, "{geometry}");
        }
    }
    assert!(read(&(mesh("gone.obj") + ellipsoid)).warnings[0].to_string().contains("gone.obj"));
}
