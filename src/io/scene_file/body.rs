//! Bodies that a scene file describes itself: a shape with its mass, as a URDF of one link.

use std::fmt::Write;

use super::address::resolve;
use super::error::{Place, SceneError};
use super::reader::{Named, Range, Section, list, number, text, vector, wrong_type};
use super::yaml::{Node, Value};
use crate::contact::ContactProperties;
use crate::geometry::SurfaceMesh;
use crate::geometry::fill::{FillSettings, fill};
use crate::geometry::make::{boundary, hull, second_moments};
use crate::geometry::surface_check::check_surface;
use crate::io::mesh_files::{self, MeshData};
use crate::io::package::PackageMap;
use crate::math::{Matrix3, Vector3};

/// The keys of the shapes.
pub(super) const SHAPES: [&str; 6] = ["box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh"];
/// The range of densities: from aerogel to twice that of the heaviest metal \[kg/m3\].
const DENSITY: Range = Range::Between(0.1, 5e4, "kg/m3 (1000 is water, 7800 steel)");
const COLOR: Range = Range::Between(0.0, 1.0, "(no unit)");

/// A body in the scene file.
#[derive(Clone, Debug)]
pub(super) struct BodySpec {
    pub(super) place: Place,
    shape: BodyShape,
    mass: Mass,
    color: Option<Vector3>,
}

#[derive(Clone, Debug)]
enum BodyShape {
    Box(Vector3),
    Sphere(f64),
    Cylinder { radius: f64, length: f64 },
    Capsule { radius: f64, length: f64 },
    Ellipsoid(Vector3),
    Mesh { file: Named, scale: Vector3, convex: bool },
}

#[derive(Clone, Debug)]
enum Mass {
    /// \[kg\]
    Total(f64),
    /// \[kg/m3\]
    Density(f64),
    /// A welded body needs no mass.
    None,
}

/// Volume \[m3\], centroid \[m\], and second moments of the volume about it \[m5\].
struct Moments {
    volume: f64,
    centroid: Vector3,
    second: Matrix3,
}

/// The body of a model, if the model has the key of a shape.
pub(super) fn read_body(model: &Section<'_>, name: &str, is_free: bool) -> Result<Option<BodySpec>, SceneError> {
    let mut shapes = SHAPES.iter().filter_map(|key| Some((*key, model.get(key)?)));
    let only_for_bodies = ["mass", "density", "color", "material"];
    let Some((key, node)) = shapes.next() else {
        return match only_for_bodies.iter().find(|key| model.get(key).is_some()) {
            Some(key) => Err(SceneError::Conflict {
                place: model.key_place(key).clone(),
                problem: format!(
                    "`{key}` belongs to a body with a shape in the scene file; add `box`, `sphere` or another shape, or remove it"
                ),
            }),
            None => Ok(None),
        };
    };
    if let Some(second) = shapes.next().map(|(key, _)| key).or(model.get("urdf").map(|_| "urdf")) {
        let problem = format!("model `{name}` has both `{key}` and `{second}`; keep one of them");
        return Err(SceneError::Conflict { place: model.key_place(second).clone(), problem });
    }
    let mass = match (model.number("mass", "[kg]", Range::Positive)?, model.number("density", "[kg/m3]", DENSITY)?) {
        (Some(_), Some(_)) => {
            let problem = format!("model `{name}` has both `mass` and `density`; keep one of them");
            return Err(SceneError::Conflict { place: model.key_place("density").clone(), problem });
        }
        (Some(mass), None) => Mass::Total(mass),
        (None, Some(density)) => Mass::Density(density),
        (None, None) if !is_free => Mass::None,
        (None, None) => {
            return Err(SceneError::MissingKey {
                place: model.place.clone(),
                section: "a free body",
                key: "mass` or `density",
                example: "mass: 0.2",
            });
        }
    };
    let color = model.vector("color", "(red, green, blue)", COLOR)?;
    Ok(Some(BodySpec { place: model.key_place(key).clone(), shape: read_shape(key, node)?, mass, color }))
}

fn read_shape(key: &'static str, node: &Node) -> Result<BodyShape, SceneError> {
    let what = format!("`{key}` [m]");
    let round = |keys: &[&str]| {
        let shape = Section::new(node, "a round shape", keys)?;
        let size = |key, example| number(shape.require(key, example)?, &format!("`{key}` [m]"), Range::Positive);
        Ok((size("radius", "radius: 0.03")?, size("length", "length: 0.1")?))
    };
    Ok(match key {
        "box" => BodyShape::Box(vector(node, &what, Range::Positive)?),
        "sphere" => BodyShape::Sphere(number(node, "`sphere` (its radius) [m]", Range::Positive)?),
        "cylinder" => {
            let (radius, length) = round(&["radius", "length"])?;
            BodyShape::Cylinder { radius, length }
        }
        "capsule" => {
            let (radius, length) = round(&["radius", "length"])?;
            BodyShape::Capsule { radius, length }
        }
        "ellipsoid" => BodyShape::Ellipsoid(vector(node, "`ellipsoid` (its semi-axes) [m]", Range::Positive)?),
        _ => read_mesh(node)?,
    })
}

fn read_mesh(node: &Node) -> Result<BodyShape, SceneError> {
    if matches!(node.value, Value::Text(_)) {
        let file = text(node, "`mesh`")?;
        return Ok(BodyShape::Mesh { file, scale: Vector3::repeat(1.0), convex: false });
    }
    let mesh = Section::new(node, "a mesh", &["file", "scale", "convex"])?;
    let scale = match mesh.get("scale") {
        None => Vector3::repeat(1.0),
        Some(scale) if matches!(scale.value, Value::Number(_)) => {
            Vector3::repeat(number(scale, "`scale` [-]", Range::Positive)?)
        }
        Some(scale) if list(scale, "`scale`").is_ok() => vector(scale, "`scale` [-]", Range::Positive)?,
        Some(scale) => return Err(wrong_type(scale, "`scale`", "a number or three numbers, as in `0.001`")),
    };
    let convex = mesh.truth("convex")?.unwrap_or(false);
    Ok(BodyShape::Mesh { file: text(mesh.require("file", "file: ../meshes/mug.obj")?, "`file`")?, scale, convex })
}

impl BodySpec {
    /// The body as a URDF of one link called `name`. The mass of an open mesh is that of its wrap, if
    /// `properties` have one.
    pub(super) fn urdf(
        &self,
        name: &str,
        packages: &PackageMap,
        properties: &ContactProperties,
    ) -> Result<String, SceneError> {
        let name = escape(name);
        let shape = match &self.shape {
            BodyShape::Box(size) => format!("<box size=\"{}\"/>", three(size)),
            BodyShape::Sphere(radius) => format!("<sphere radius=\"{radius}\"/>"),
            BodyShape::Cylinder { radius, length } => format!("<cylinder radius=\"{radius}\" length=\"{length}\"/>"),
            BodyShape::Capsule { radius, length } => {
                format!("<drake:capsule radius=\"{radius}\" length=\"{length}\"/>")
            }
            BodyShape::Ellipsoid(axes) => {
                format!("<drake:ellipsoid a=\"{}\" b=\"{}\" c=\"{}\"/>", axes.x, axes.y, axes.z)
            }
            BodyShape::Mesh { file, scale, convex } => {
                let convex = if *convex { "<drake:declare_convex/>" } else { "" };
                format!("<mesh filename=\"{}\" scale=\"{}\">{convex}</mesh>", escape(&file.name), three(scale))
            }
        };
        let color = self.color.map_or(String::new(), |color| {
            format!("<material name=\"{name}_color\"><color rgba=\"{} 1\"/></material>", three(&color))
        });
        let inertial = self.inertial(packages, properties)?;
        Ok(format!(
            "<?xml version=\"1.0\"?>\n<robot name=\"{name}\" xmlns:drake=\"https://drake.mit.edu\">\n<link name=\"{name}\">\n\
             {inertial}<visual><geometry>{shape}</geometry>{color}</visual>\n\
             <collision><geometry>{shape}</geometry></collision>\n</link>\n</robot>\n"
        ))
    }

    fn inertial(&self, packages: &PackageMap, properties: &ContactProperties) -> Result<String, SceneError> {
        if matches!(self.mass, Mass::None) {
            return Ok(String::new());
        }
        let Moments { volume, centroid, second } = self.moments(packages, properties)?;
        let mass = match self.mass {
            Mass::Density(density) => density * volume,
            Mass::Total(mass) => mass,
            Mass::None => 0.0,
        };
        let inertia = (Matrix3::identity() * second.trace() - second) * (mass / volume);
        let mut text = format!("<inertial><origin xyz=\"{}\"/><mass value=\"{mass}\"/><inertia", three(&centroid));
        for (name, i, j) in [("xx", 0, 0), ("xy", 0, 1), ("xz", 0, 2), ("yy", 1, 1), ("yz", 1, 2), ("zz", 2, 2)] {
            // Writing to a `String` cannot fail.
            let _ = write!(text, " i{name}=\"{}\"", inertia[(i, j)]);
        }
        Ok(text + "/></inertial>\n")
    }

    fn moments(&self, packages: &PackageMap, properties: &ContactProperties) -> Result<Moments, SceneError> {
        let centred = |volume: f64, second: Vector3| Moments {
            volume,
            centroid: Vector3::zeros(),
            second: Matrix3::from_diagonal(&(second * volume)),
        };
        let pi = std::f64::consts::PI;
        Ok(match &self.shape {
            BodyShape::Box(size) => centred(size.product(), size.component_mul(size) / 12.0),
            BodyShape::Sphere(radius) => {
                centred(4.0 / 3.0 * pi * radius.powi(3), Vector3::repeat(radius * radius / 5.0))
            }
            BodyShape::Ellipsoid(axes) => centred(4.0 / 3.0 * pi * axes.product(), axes.component_mul(axes) / 5.0),
            BodyShape::Cylinder { radius, length } => {
                let (r2, l2) = (radius * radius, length * length);
                centred(pi * r2 * length, Vector3::new(r2 / 4.0, r2 / 4.0, l2 / 12.0))
            }
            BodyShape::Capsule { radius, length } => {
                let (r2, l2) = (radius * radius, length * length);
                let (cylinder, ball) = (pi * r2 * length, 4.0 / 3.0 * pi * radius * r2);
                let volume = cylinder + ball;
                let across = (cylinder * r2 / 4.0 + ball * r2 / 5.0) / volume;
                // The centroid of a half ball is 3/8 R from its flat side.
                let along =
                    (cylinder * l2 / 12.0 + ball * (r2 / 5.0 + l2 / 4.0 + 3.0 / 8.0 * radius * length)) / volume;
                centred(volume, Vector3::new(across, across, along))
            }
            BodyShape::Mesh { file, scale, convex } => {
                mesh_moments(&read_surface(file, scale, packages)?, file, *convex, properties)?
            }
        })
    }
}

/// The surface of the mesh file at an address.
fn read_surface(address: &Named, scale: &Vector3, packages: &PackageMap) -> Result<SurfaceMesh, SceneError> {
    let file = resolve(address, "the mesh", packages)?;
    let unloadable = |source: Box<dyn std::error::Error + Send + Sync>| SceneError::Load {
        place: address.place.clone(),
        what: format!("the mesh `{}`", address.name),
        source,
    };
    match mesh_files::read(&file, scale).map_err(|error| unloadable(Box::new(error)))? {
        MeshData::Surface(surface) => Ok(surface),
        MeshData::Volume { mesh, .. } => boundary(&mesh).map_err(|error| unloadable(Box::new(error))),
    }
}

fn mesh_moments(
    surface: &SurfaceMesh,
    file: &Named,
    convex: bool,
    properties: &ContactProperties,
) -> Result<Moments, SceneError> {
    let remedy = "repair the mesh, or describe the body in a URDF file with its inertia";
    let refused = |problem: String| SceneError::Conflict {
        place: file.place.clone(),
        problem: format!("the mass of mesh `{}` cannot be computed: {problem}; {remedy}", file.name),
    };
    let (volume, centroid, second) = match convex {
        true => second_moments(&hull(&surface.vertices).map_err(|defect| refused(defect.to_string()))?),
        false => match (check_surface(surface), properties.wrap) {
            (Ok(checked), _) => checked.second_moments(),
            (Err(_), Some(_)) => {
                let (wrap, resolution_hint) = (properties.wrap, properties.mesh_resolution_hint);
                let settings = FillSettings { wrap, resolution_hint, ..FillSettings::default() };
                let filling = fill(surface, &settings).map_err(|error| refused(error.to_string()))?;
                second_moments(&boundary(&filling.mesh).map_err(|error| refused(error.to_string()))?)
            }
            (Err(defect), None) => return Err(refused(defect.to_string())),
        },
    };
    match volume > 0.0 {
        true => Ok(Moments { volume, centroid, second }),
        false => Err(refused(format!("it encloses a volume of {volume:e} m3"))),
    }
}

fn three(vector: &Vector3) -> String {
    format!("{} {} {}", vector.x, vector.y, vector.z)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
