//! Links: inertia, collision and visual geometries. Geometries become elements of a URDF, which the reader of
//! URDF geometries checks and reads.

use super::SdformatProblem;
use super::collect::{Collected, Item};
use super::text::{child_number, child_numbers, fail, pose, relative_to, required_child};
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::geometry::GeometryReader;
use crate::io::urdf::place::Place;
use crate::io::urdf::standard::{StandardGeometry, StandardShape};
use crate::io::xml::Element;
use crate::math::{Matrix3, RigidTransform, Rotation, Vector3};
use crate::robot::{Inertial, Link, LoadWarning};

/// Thickness of the plate that shows a plane \[m\].
const PLANE_THICKNESS: f64 = 1e-3;

/// Shapes of SDFormat that are not read, with a way out.
const NOT_READ: [(&str, &str); 5] = [
    ("polyline", "write the extruded outline as a mesh"),
    ("heightmap", "write the ground as a mesh"),
    ("image", "write the ground as a mesh"),
    ("cone", "write it as a mesh"),
    ("terrain", "write the ground as a mesh"),
];

/// A link of the robot.
pub(super) fn read(
    item: &Item,
    collected: &Collected<'_>,
    reader: &mut GeometryReader<'_>,
    warnings: &mut Vec<LoadWarning>,
) -> Result<Link, UrdfError> {
    let file = collected.frames.file(item.file);
    let place = Place::new(file, item.element.line, format!("link `{}`", item.name));
    let mut link = Link { name: item.name.clone(), line: item.element.line, ..Link::default() };
    let is_static = collected.flags[item.scope].is_static;
    link.inertial = match item.element.child("inertial") {
        Some(inertial) => Some(read_inertial(inertial, &place.inside(inertial), warnings)?),
        None if is_static => None,
        None => {
            warnings.push(
                place.warning("there is no <inertial>; SDFormat's default of 1 kg and 1 kg m2 is used; state it"),
            );
            Some(Inertial { mass: 1.0, X_BI: RigidTransform::identity(), inertia_I: Matrix3::identity() })
        }
    };
    let X_BG = |element: &Element, inside: &Place| -> Result<RigidTransform, UrdfError> {
        let X_FG = pose(element, inside)?;
        let Some(frame) = relative_to(element) else { return Ok(X_FG) };
        let frame = collected.frames.find(item.scope, frame, inside)?;
        Ok(collected.frames.pose(item.frame, frame) * X_FG)
    };
    for (number, element) in item.element.children("collision").enumerate() {
        let inside = place.inside(element);
        let geometry = element.child("geometry");
        let geometry =
            geometry.ok_or_else(|| inside.fail(UrdfProblem::MissingChild { child: "geometry".to_owned() }))?;
        let Some(shape) = read_shape(geometry, &inside.inside(geometry))? else { continue };
        let standard =
            StandardGeometry { X_BG: X_BG(element, &inside)? * shape.X_GS, shape: shape.standard, material: None };
        let mut adapted = as_urdf(element, shape.foreign);
        adapted.children.extend(element.children("drake:proximity_properties").map(with_values));
        let name = format!("{}_collision_{number}", item.name);
        let mut read = reader.collision(&adapted, &standard, &inside, name, warnings)?;
        if let Some(collision) = &mut read {
            read_friction(element, &inside, &mut collision.properties, warnings)?;
            if let Some((uri, _)) = &mut collision.mesh {
                *uri = whole_address(uri, reader);
            }
        }
        link.collisions.extend(read);
    }
    for (number, element) in item.element.children("visual").enumerate() {
        let inside = place.inside(element);
        let geometry = element.child("geometry");
        let geometry =
            geometry.ok_or_else(|| inside.fail(UrdfProblem::MissingChild { child: "geometry".to_owned() }))?;
        let shape = match read_shape(geometry, &inside.inside(geometry)) {
            Ok(Some(shape)) => shape,
            Ok(None) => continue,
            Err(error) => {
                let reason = match error {
                    UrdfError::Invalid { problem, .. } => problem.to_string(),
                    other => other.to_string(),
                };
                warnings.push(inside.warning(format!("the visual geometry is not shown: {reason}")));
                continue;
            }
        };
        // A half space cannot be drawn; a plate can.
        let (standard, X_GS) = match (shape.standard, shape.plate) {
            (StandardShape::HalfSpace, Some([x, y])) => (
                StandardShape::Box { size: Vector3::new(x, y, PLANE_THICKNESS) },
                shape.X_GS * RigidTransform::translation(0.0, 0.0, -0.5 * PLANE_THICKNESS),
            ),
            (standard, _) => (standard, shape.X_GS),
        };
        let material = color(element, &inside)?.map(|color| (String::new(), Some(color)));
        let standard = StandardGeometry { X_BG: X_BG(element, &inside)? * X_GS, shape: standard, material };
        let adapted = as_urdf(element, shape.foreign);
        let name = format!("{}_visual_{number}", item.name);
        let mut visual = reader.visual(&adapted, &standard, &inside, name, &Default::default(), warnings);
        if let Some((uri, _)) = &mut visual.mesh {
            *uri = whole_address(uri, reader);
        }
        link.visuals.push(visual);
    }
    Ok(link)
}

/// An address that holds in every folder: that of a package, or of a file.
fn whole_address(uri: &str, reader: &GeometryReader<'_>) -> String {
    match reader.packages.resolve(uri, reader.base_dir) {
        Ok(path) if !uri.starts_with("package://") => {
            format!("file://{}", std::path::absolute(&path).unwrap_or(path).display())
        }
        _ => uri.to_owned(),
    }
}

fn read_inertial(inertial: &Element, place: &Place, warnings: &mut Vec<LoadWarning>) -> Result<Inertial, UrdfError> {
    if matches!(inertial.attribute("auto"), Some("true" | "1")) {
        return Err(fail(place, SdformatProblem::AutomaticInertia));
    }
    if relative_to(inertial).is_some() {
        let problem = SdformatProblem::Pose("the inertia's pose is always given in the link; remove `relative_to`");
        return Err(fail(place, problem));
    }
    let mass = match child_number(inertial, place, "mass")? {
        Some(mass) => place.not_negative("the mass", mass)?,
        None => {
            warnings.push(place.warning("there is no <mass>; SDFormat's default of 1 kg is used; state it"));
            1.0
        }
    };
    let mut inertia_I = Matrix3::identity();
    match inertial.child("inertia") {
        Some(inertia) => {
            let inside = place.inside(inertia);
            let moment = |name| Ok::<_, UrdfError>(child_number(inertia, &inside, name)?.unwrap_or(1.0));
            let product = |name| Ok::<_, UrdfError>(child_number(inertia, &inside, name)?.unwrap_or(0.0));
            let (ixx, iyy, izz) = (moment("ixx")?, moment("iyy")?, moment("izz")?);
            let (ixy, ixz, iyz) = (product("ixy")?, product("ixz")?, product("iyz")?);
            inertia_I = Matrix3::new(ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz);
            let missing: Vec<&str> =
                ["ixx", "iyy", "izz"].into_iter().filter(|name| inertia.child(name).is_none()).collect();
            if !missing.is_empty() {
                let what =
                    format!("there is no {}; SDFormat's default of 1 kg m2 is used; state it", missing.join(", "));
                warnings.push(inside.warning(what));
            }
        }
        None => warnings.push(
            place.warning("there is no <inertia>; SDFormat's default of 1 kg m2 about each axis is used; state it"),
        ),
    }
    Ok(Inertial { mass, X_BI: pose(inertial, place)?, inertia_I })
}

/// A shape, as the reader of URDF geometries takes it.
struct AdaptedShape {
    standard: StandardShape,
    /// A child of `<geometry>` for shapes that URDF does not have.
    foreign: Option<Element>,
    /// Pose of the shape in the geometry's frame.
    X_GS: RigidTransform,
    /// The size at which a plane is shown \[m\].
    plate: Option<[f64; 2]>,
}

/// The shape in a `<geometry>`; `None` if it is `<empty>`.
fn read_shape(geometry: &Element, place: &Place) -> Result<Option<AdaptedShape>, UrdfError> {
    let no_shape = |found: String| place.fail(UrdfProblem::NoShape { found });
    let Some(shape) = geometry.children.first() else { return Err(no_shape(String::new())) };
    let inside = place.inside(shape);
    let missing = |child: &str| inside.fail(UrdfProblem::MissingChild { child: child.to_owned() });
    let size = |name: &str| child_number(shape, &inside, name)?.ok_or_else(|| missing(name));
    let foreign = |name: &str, sizes: &[(&str, f64)]| {
        let attributes = sizes.iter().map(|(name, size)| ((*name).to_owned(), format!("{size:?}"))).collect();
        Some(Element { name: name.to_owned(), attributes, line: shape.line, ..Element::default() })
    };
    // The sizes of a shape that URDF does not have are in its element.
    let elsewhere = StandardShape::Sphere { radius: 1.0 };
    let (standard, foreign) = match shape.name.as_str() {
        "empty" => return Ok(None),
        "box" => {
            let size = child_numbers::<3>(shape, &inside, "size")?.ok_or_else(|| missing("size"))?;
            (StandardShape::Box { size: Vector3::from(size) }, None)
        }
        "sphere" => (StandardShape::Sphere { radius: size("radius")? }, None),
        "cylinder" => (StandardShape::Cylinder { radius: size("radius")?, length: size("length")? }, None),
        "capsule" | "drake:capsule" => {
            let sizes = [("radius", size("radius")?), ("length", size("length")?)];
            (elsewhere, foreign("drake:capsule", &sizes))
        }
        "drake:ellipsoid" => {
            (elsewhere, foreign("drake:ellipsoid", &[("a", size("a")?), ("b", size("b")?), ("c", size("c")?)]))
        }
        "ellipsoid" => {
            let radii = child_numbers::<3>(shape, &inside, "radii")?.ok_or_else(|| missing("radii"))?;
            let [a, b, c] = radii;
            (elsewhere, foreign("drake:ellipsoid", &[("a", a), ("b", b), ("c", c)]))
        }
        "mesh" => {
            let uri = required_child(shape, &inside, "uri")?.to_owned();
            let scale = child_numbers::<3>(shape, &inside, "scale")?.unwrap_or([1.0; 3]);
            let mut mesh = Element { name: "mesh".to_owned(), line: shape.line, ..Element::default() };
            let hull = shape.attribute("optimization") == Some("convex_hull");
            if hull || shape.child("drake:declare_convex").is_some() {
                mesh.children.push(Element { name: "drake:declare_convex".to_owned(), ..Element::default() });
            }
            (StandardShape::Mesh { uri, scale: Vector3::from(scale) }, Some(mesh))
        }
        "plane" => {
            let normal = child_numbers::<3>(shape, &inside, "normal")?.unwrap_or([0.0, 0.0, 1.0]);
            let normal = Vector3::from(normal);
            if normal.norm() < 1e-9 {
                return Err(fail(&inside, SdformatProblem::ZeroAxis));
            }
            let half_turn = || Rotation::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
            let rotation = Rotation::rotation_between(&Vector3::z(), &normal).unwrap_or_else(half_turn);
            let plate = child_numbers::<2>(shape, &inside, "size")?.unwrap_or([1.0; 2]);
            let X_GS = RigidTransform::from_parts(Vector3::zeros().into(), rotation);
            return Ok(Some(AdaptedShape {
                standard: StandardShape::HalfSpace,
                foreign: None,
                X_GS,
                plate: Some(plate),
            }));
        }
        other => {
            if let Some((_, way_out)) = NOT_READ.iter().find(|(name, _)| *name == other) {
                return Err(fail(place, SdformatProblem::Shape { found: other.to_owned(), way_out }));
            }
            return Err(no_shape(format!(", only <{other}>")));
        }
    };
    Ok(Some(AdaptedShape { standard, foreign, X_GS: RigidTransform::identity(), plate: None }))
}

/// A collision or a visual as an element of a URDF.
fn as_urdf(element: &Element, shape: Option<Element>) -> Element {
    let children = shape.into_iter().collect();
    let geometry = Element { name: "geometry".to_owned(), line: element.line, children, ..Element::default() };
    Element {
        name: element.name.clone(),
        attributes: element.attributes.clone(),
        line: element.line,
        children: vec![geometry],
        ..Element::default()
    }
}

/// `element` with the texts of its children as attributes, as URDF has them.
pub(super) fn with_values(element: &Element) -> Element {
    let mut adapted = element.clone();
    for child in adapted.children.iter_mut().filter(|child| !child.text.is_empty()) {
        let attribute = if child.name == "isobar:surface_velocity" { "xyz" } else { "value" };
        if child.attribute(attribute).is_none() {
            child.attributes.push((attribute.to_owned(), child.text.clone()));
        }
    }
    adapted
}

/// Friction of `<surface>`, unless Drake's properties state it.
fn read_friction(
    collision: &Element,
    place: &Place,
    properties: &mut crate::contact::ContactProperties,
    warnings: &mut Vec<LoadWarning>,
) -> Result<(), UrdfError> {
    let inner = |parent: &'_ Element, name: &str| parent.child(name).cloned();
    let Some(ode) = inner(collision, "surface").and_then(|s| inner(&s, "friction")).and_then(|f| inner(&f, "ode"))
    else {
        return Ok(());
    };
    let inside = place.inside(&ode);
    let Some(mu) = child_number(&ode, &inside, "mu")? else { return Ok(()) };
    let mu = inside.not_negative("<mu>", mu)?;
    if properties.mu_dynamic.is_some() {
        return Ok(());
    }
    if let Some(mu2) = child_number(&ode, &inside, "mu2")?
        && mu2 != mu
    {
        let what = format!("<mu2> {mu2} has no effect: friction is the same in all directions, with <mu> {mu}");
        warnings.push(inside.warning(what));
    }
    properties.mu_dynamic = Some(mu);
    Ok(())
}

/// Red, green, blue, alpha of the `<diffuse>` colour.
fn color(visual: &Element, place: &Place) -> Result<Option<[f64; 4]>, UrdfError> {
    let Some(material) = visual.child("material") else { return Ok(None) };
    let Some(diffuse) = material.child("diffuse") else { return Ok(None) };
    let inside = place.inside(material).inside(diffuse);
    let mut color = match diffuse.text.split_whitespace().count() {
        3 => {
            let [r, g, b] = super::text::numbers::<3>(diffuse, &inside, false)?;
            [r, g, b, 1.0]
        }
        _ => super::text::numbers::<4>(diffuse, &inside, false)?,
    };
    color[3] *= 1.0 - child_number(visual, place, "transparency")?.unwrap_or(0.0).clamp(0.0, 1.0);
    Ok(Some(color))
}
