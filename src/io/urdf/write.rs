//! A robot as a URDF text, for programs that read no other format: RViz, robot_state_publisher, MoveIt.

use crate::geometry::Shape;
use crate::math::{RigidTransform, Vector3};
use crate::robot::{Joint, Limits, Link, RobotDescription, RobotFormat};

/// The URDF text of a robot: `text`, from which it was read, if this is a URDF; otherwise its links, visual
/// and collision geometries and joints as a URDF. Shapes that URDF lacks are written with Drake's elements,
/// and half spaces are left out.
pub fn urdf_text(robot: &RobotDescription, text: &str) -> String {
    if robot.format == RobotFormat::Urdf {
        return text.to_owned();
    }
    let mut out = format!("<robot name=\"{}\" xmlns:drake=\"http://drake.mit.edu\">\n", escape(&robot.name));
    robot.links.iter().for_each(|link| write_link(link, &mut out));
    robot.joints.iter().for_each(|joint| write_joint(joint, &mut out));
    out.push_str("</robot>\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn three(vector: &Vector3) -> String {
    format!("{} {} {}", vector.x, vector.y, vector.z)
}

fn origin(X: &RigidTransform) -> String {
    if *X == RigidTransform::identity() {
        return String::new();
    }
    let (roll, pitch, yaw) = X.rotation.euler_angles();
    format!("<origin xyz=\"{}\" rpy=\"{roll} {pitch} {yaw}\"/>", three(&X.translation.vector))
}

/// The element of a shape; `None` if it cannot be written.
fn geometry(shape: Option<&Shape>, mesh: Option<&(String, Vector3)>) -> Option<String> {
    if let Some((uri, scale)) = mesh {
        return Some(format!("<mesh filename=\"{}\" scale=\"{}\"/>", escape(uri), three(scale)));
    }
    Some(match shape? {
        Shape::Sphere { radius } => format!("<sphere radius=\"{radius}\"/>"),
        Shape::Box { size } => format!("<box size=\"{}\"/>", three(size)),
        Shape::Cylinder { radius, length } => format!("<cylinder radius=\"{radius}\" length=\"{length}\"/>"),
        Shape::Capsule { radius, length } => format!("<drake:capsule radius=\"{radius}\" length=\"{length}\"/>"),
        Shape::Ellipsoid { semi_axes } => {
            format!("<drake:ellipsoid a=\"{}\" b=\"{}\" c=\"{}\"/>", semi_axes.x, semi_axes.y, semi_axes.z)
        }
        _ => return None,
    })
}

fn write_link(link: &Link, out: &mut String) {
    out.push_str(&format!("  <link name=\"{}\">\n", escape(&link.name)));
    if let Some(inertial) = &link.inertial {
        let inertia = &inertial.inertia_I;
        let moments = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]
            .iter()
            .zip([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)])
            .map(|(name, at)| format!(" {name}=\"{}\"", inertia[at]));
        out.push_str(&format!(
            "    <inertial>{}<mass value=\"{}\"/><inertia{}/></inertial>\n",
            origin(&inertial.X_BI),
            inertial.mass,
            moments.collect::<String>()
        ));
    }
    for visual in &link.visuals {
        let Some(shape) = geometry(visual.shape.as_ref(), visual.mesh.as_ref()) else { continue };
        let color = visual.color.map_or(String::new(), |[r, g, b, alpha]| {
            format!("<material name=\"\"><color rgba=\"{r} {g} {b} {alpha}\"/></material>")
        });
        let (name, pose) = (escape(&visual.name), origin(&visual.X_BG));
        let element = format!("<visual name=\"{name}\">{pose}<geometry>{shape}</geometry>{color}</visual>");
        out.push_str(&format!("    {element}\n"));
    }
    for collision in &link.collisions {
        let Some(shape) = geometry(Some(&collision.shape), collision.mesh.as_ref()) else { continue };
        let (name, pose) = (escape(&collision.name), origin(&collision.X_BG));
        out.push_str(&format!("    <collision name=\"{name}\">{pose}<geometry>{shape}</geometry></collision>\n"));
    }
    out.push_str("  </link>\n");
}

fn write_joint(joint: &Joint, out: &mut String) {
    let (name, kind) = (escape(&joint.name), joint.kind.name());
    out.push_str(&format!(
        "  <joint name=\"{name}\" type=\"{kind}\">{}<parent link=\"{}\"/><child link=\"{}\"/>",
        origin(&joint.X_PF),
        escape(&joint.parent),
        escape(&joint.child)
    ));
    if joint.kind.has_axis() {
        out.push_str(&format!("<axis xyz=\"{}\"/>", three(&joint.axis)));
    }
    let Limits { lower, upper, velocity, effort, .. } = joint.limits;
    let limits: String = [("lower", lower), ("upper", upper), ("velocity", velocity), ("effort", effort)]
        .iter()
        .filter_map(|(name, limit)| limit.map(|limit| format!(" {name}=\"{limit}\"")))
        .collect();
    if !limits.is_empty() {
        out.push_str(&format!("<limit{limits}/>"));
    }
    if joint.damping != 0.0 || joint.friction != 0.0 {
        out.push_str(&format!("<dynamics damping=\"{}\" friction=\"{}\"/>", joint.damping, joint.friction));
    }
    if let Some(mimic) = &joint.mimic {
        let (leader, multiplier, offset) = (escape(&mimic.joint), mimic.multiplier, mimic.offset);
        out.push_str(&format!("<mimic joint=\"{leader}\" multiplier=\"{multiplier}\" offset=\"{offset}\"/>"));
    }
    out.push_str("</joint>\n");
}
