//! A report on a robot file: tree, masses, limits, collision geometries, and likely mistakes.

mod checks;

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{CollisionElement, Joint, Limits, Link, RobotDescription};
use crate::geometry::Shape;
use crate::math::RigidTransform;
use crate::multibody::JointKind;

pub use checks::inertia_mistakes;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($arguments:tt)*) => {
        let _ = writeln!($text, $($arguments)*);
    };
}

/// The report that `isobar inspect` prints.
pub fn report(robot: &RobotDescription) -> String {
    let mut text = String::new();
    summary(robot, &mut text);
    tree(robot, &mut text);
    frames(robot, &mut text);
    collisions(robot, &mut text);
    groups(robot, &mut text);
    let warnings = loading_warnings(robot);
    list("Skipped, repaired or assumed while loading", &warnings, &mut text);
    let mistakes = checks::checks(robot);
    if mistakes.is_empty() && !warnings.is_empty() {
        line!(text, "\nLikely mistakes\n  (nothing beyond the {} above)", counted(warnings.len(), "item"));
    } else {
        list("Likely mistakes", &mistakes, &mut text);
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn summary(robot: &RobotDescription, text: &mut String) {
    let movable = robot.joints.iter().filter(|joint| joint.kind != JointKind::Fixed).count();
    let mimics = robot.joints.iter().filter(|joint| joint.mimic.is_some()).count();
    let geometries = robot.links.iter().map(|link| link.collisions.len()).sum::<usize>();
    let visuals = robot.links.iter().map(|link| link.visuals.len()).sum::<usize>();
    line!(text, "Robot `{}` from {}", robot.name, robot.file.display());
    line!(text, "  links                 {}", robot.links.len());
    line!(text, "  joints                {} ({movable} movable, of which {mimics} mimic)", robot.joints.len());
    line!(text, "  degrees of freedom    {} (base not counted)", robot.num_dofs());
    line!(text, "  mass                  {:.6} kg", robot.total_mass());
    line!(text, "  collision geometries  {geometries}");
    line!(text, "  visual geometries     {visuals}");
}

fn tree(robot: &RobotDescription, text: &mut String) {
    line!(text, "\nTree");
    let Some(root) = robot.root() else {
        line!(text, "  (no links)");
        return;
    };
    let links: BTreeMap<&str, &Link> = robot.links.iter().map(|link| (link.name.as_str(), link)).collect();
    let mut below: BTreeMap<&str, Vec<&Joint>> = BTreeMap::new();
    for joint in &robot.joints {
        below.entry(&joint.parent).or_default().push(joint);
    }
    line!(text, "  {}", link_line(root));
    // A stack instead of recursion. The first joint of a link must come out first, so it is pushed last.
    let joints_below = |link: &str| below.get(link).map_or(&[][..], Vec::as_slice).iter().rev();
    let mut stack: Vec<(&Joint, usize)> = joints_below(&root.name).map(|joint| (*joint, 1)).collect();
    while let Some((joint, depth)) = stack.pop() {
        let child = links.get(joint.child.as_str()).map_or(joint.child.clone(), |link| link_line(link));
        line!(text, "  {}- {} -> {child}", "  ".repeat(depth), joint_line(joint));
        stack.extend(joints_below(&joint.child).map(|next| (*next, depth + 1)));
    }
}

/// The pose of each link in the frame of the root, with all joints at zero.
fn frames(robot: &RobotDescription, text: &mut String) {
    line!(text, "\nFrames with joints at zero, in the root's frame (x y z [m], roll pitch yaw [rad])");
    let above: BTreeMap<&str, &Joint> = robot.joints.iter().map(|joint| (joint.child.as_str(), joint)).collect();
    for link in &robot.links {
        let (mut X_RB, mut here) = (RigidTransform::identity(), link.name.as_str());
        // The tree was checked at loading: this walk ends at the root.
        while let Some(joint) = above.get(here) {
            X_RB = joint.X_PF * X_RB;
            here = &joint.parent;
        }
        let (p, (roll, pitch, yaw)) = (X_RB.translation.vector, X_RB.rotation.euler_angles());
        line!(text, "  {}  {}  {}", link.name, vector(p.as_slice()), vector(&[roll, pitch, yaw]));
    }
}

fn link_line(link: &Link) -> String {
    let mass = link.inertial.as_ref().map_or("no inertial".to_owned(), |inertial| format!("{} kg", inertial.mass));
    match link.collisions.len() {
        0 => format!("{} ({mass})", link.name),
        1 => format!("{} ({mass}, 1 collision geometry)", link.name),
        count => format!("{} ({mass}, {count} collision geometries)", link.name),
    }
}

fn joint_line(joint: &Joint) -> String {
    let mut parts = vec![joint.kind.name().to_owned()];
    if joint.kind.has_axis() {
        parts.push(format!("axis {}", vector(joint.axis.as_slice())));
    }
    parts.extend(limit_parts(joint.kind, &joint.limits));
    let prismatic = joint.kind == JointKind::Prismatic;
    if joint.damping != 0.0 {
        parts.push(format!("damping {} {}", joint.damping, if prismatic { "N s/m" } else { "N m s/rad" }));
    }
    if joint.friction != 0.0 {
        parts.push(format!("friction {} {}", joint.friction, if prismatic { "N" } else { "N m" }));
    }
    if joint.rotor_inertia != 0.0 {
        parts.push(format!("rotor {} kg m2, gear {}", joint.rotor_inertia, joint.gear_ratio));
    }
    if let Some(gains) = joint.controller_gains {
        parts.push(format!("gains p {}, d {}", gains.p, gains.d));
    }
    if let Some(mimic) = &joint.mimic {
        parts.push(format!("follows {} * {} + {}", mimic.multiplier, mimic.joint, mimic.offset));
    }
    format!("{} [{}]", joint.name, parts.join(", "))
}

fn limit_parts(kind: JointKind, limits: &Limits) -> Vec<String> {
    let (position, effort) = if kind == JointKind::Prismatic { ("m", "N") } else { ("rad", "N m") };
    let mut parts = Vec::new();
    let side = |limit: Option<f64>, none: &str| limit.map_or(none.to_owned(), |value| value.to_string());
    if limits.lower.is_some() || limits.upper.is_some() {
        parts.push(format!("{}..{} {position}", side(limits.lower, "-inf"), side(limits.upper, "inf")));
    } else if matches!(kind, JointKind::Revolute | JointKind::Prismatic) {
        parts.push("no position limits".to_owned());
    }
    parts.extend(limits.velocity.map(|velocity| format!("{velocity} {position}/s")));
    parts.extend(limits.acceleration.map(|acceleration| format!("{acceleration} {position}/s2")));
    parts.extend(limits.effort.map(|limit| format!("{limit} {effort}")));
    parts
}

fn vector(numbers: &[f64]) -> String {
    let shown: Vec<String> = numbers.iter().map(|x| format!("{}", (x * 1e6).round() / 1e6 + 0.0)).collect();
    format!("({})", shown.join(" "))
}

fn collisions(robot: &RobotDescription, text: &mut String) {
    line!(text, "\nCollision geometries (link / name: shape; contact properties)");
    let mut any = false;
    for link in &robot.links {
        for collision in &link.collisions {
            line!(text, "  {} / {}: {}; {}", link.name, collision.name, size(&collision.shape), properties(collision));
            any = true;
        }
    }
    if !any {
        line!(text, "  (none)");
    }
}

fn size(shape: &Shape) -> String {
    let kind = shape.kind();
    match shape {
        Shape::Sphere { radius } => format!("{kind}, radius {radius} m"),
        Shape::Ellipsoid { semi_axes } => format!("{kind}, semi-axes {} m", vector(semi_axes.as_slice())),
        Shape::Box { size } => format!("{kind}, size {} m", vector(size.as_slice())),
        Shape::Cylinder { radius, length } | Shape::Capsule { radius, length } => {
            format!("{kind}, radius {radius} m, length {length} m")
        }
        Shape::HalfSpace => kind.to_owned(),
        Shape::Mesh(mesh) | Shape::Convex(mesh) => {
            format!("{kind}, {} vertices, {} triangles", mesh.vertices.len(), mesh.triangles.len())
        }
        Shape::Volume { mesh, pressure } => {
            let field = if pressure.is_some() { ", pressure given" } else { "" };
            format!("{kind}, {} vertices, {} tetrahedra{field}", mesh.vertices.len(), mesh.tets.len())
        }
    }
}

fn properties(collision: &CollisionElement) -> String {
    let properties = &collision.properties;
    let compliance = match properties.compliant {
        Some(true) => "compliant",
        Some(false) => "rigid",
        None => "compliance not stated",
    };
    let mut parts = vec![compliance.to_owned()];
    let numbers = [
        ("modulus", properties.hydroelastic_modulus, " Pa"),
        ("resolution hint", properties.mesh_resolution_hint, " m"),
        ("slab thickness", properties.slab_thickness, " m"),
        ("wrap", properties.wrap, " m"),
        ("surface tolerance", properties.surface_tolerance, " m"),
        ("margin", properties.margin, " m"),
        ("dissipation", properties.hunt_crossley_dissipation, " s/m"),
        ("relaxation time", properties.relaxation_time, " s"),
        ("mu_dynamic", properties.mu_dynamic, ""),
        ("mu_static", properties.mu_static, ""),
        ("point stiffness", properties.point_contact_stiffness, " N/m"),
        ("torsional radius", properties.torsional_radius, " m"),
        ("rolling friction", properties.rolling_friction, " m"),
        ("restitution", properties.restitution, ""),
    ];
    parts.extend(numbers.iter().filter_map(|(name, value, unit)| value.map(|value| format!("{name} {value}{unit}"))));
    parts.join(", ")
}

fn groups(robot: &RobotDescription, text: &mut String) {
    if robot.collision_filter_groups.is_empty() {
        return;
    }
    line!(text, "\nCollision filter groups");
    for group in &robot.collision_filter_groups {
        let off = if group.ignore { " (switched off)" } else { "" };
        let members: Vec<&str> = group.members.iter().chain(&group.member_groups).map(String::as_str).collect();
        line!(
            text,
            "  {}{off}: {}; does not collide with {}",
            group.name,
            members.join(", "),
            group.ignored_groups.join(", ")
        );
    }
}

fn loading_warnings(robot: &RobotDescription) -> Vec<String> {
    let shown =
        |warning: &super::LoadWarning| format!("line {}: {}: {}", warning.line, warning.element, warning.message);
    robot.warnings.iter().map(shown).collect()
}

fn list(title: &str, items: &[String], text: &mut String) {
    line!(text, "\n{title}");
    match items {
        [] => {
            line!(text, "  (nothing)");
        }
        items => items.iter().for_each(|item| {
            line!(text, "  {item}");
        }),
    }
}
