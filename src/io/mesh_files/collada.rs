//! COLLADA 1.4/1.5 (.dae): the triangles of the visual scene, posed by its nodes, in metres.
//!
//! This is a small reader of our own, because robot meshes use little of the format but need the poses of
//! nodes and the unit. It reads `triangles`, `polylist`, `polygons`, `trifans` and `tristrips` of the
//! geometries that the scene instances. Lines, lights, deformations of skins and animations are ignored. Of
//! materials only the diffuse colour is read (`collada_colors`). `up_axis` is not applied, as in RViz, MoveIt
//! and Pinocchio: robot files are made with these tools, and turning the mesh would move it away from its
//! link.

use super::collada_colors::Bindings;
use super::collada_ids::{Ids, collect_ids, target};
use super::malformed::Malformed;
use super::polygon;
use super::welder::Welder;
use crate::io::xml::{self, Element};
use crate::math::{Matrix3, Rotation, Vector3};

/// Affine map of points p -> linear p + offset, as COLLADA's 4x4 matrices are.
#[derive(Clone, Copy)]
struct Affine {
    linear: Matrix3,
    offset: Vector3,
}

impl Affine {
    /// First `other`, then this map.
    fn after(&self, other: &Affine) -> Affine {
        Affine { linear: self.linear * other.linear, offset: self.apply(&other.offset) }
    }
    fn apply(&self, point: &Vector3) -> Vector3 {
        self.linear * point + self.offset
    }
    /// The 4x4 matrix of an element, row by row.
    fn matrix(element: &Element) -> Result<Affine, Malformed> {
        let m = exactly::<16>(element)?;
        let linear = Matrix3::new(m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]);
        Ok(Affine { linear, offset: Vector3::new(m[3], m[7], m[11]) })
    }
    /// The map of a node's transform element; `None` for other elements.
    fn of(element: &Element) -> Result<Option<Affine>, Malformed> {
        let linear = |linear: Matrix3| Some(Affine { linear, offset: Vector3::zeros() });
        Ok(match element.name.as_str() {
            "matrix" => Some(Affine::matrix(element)?),
            "translate" => Some(Affine { linear: Matrix3::identity(), offset: exactly::<3>(element)?.into() }),
            "scale" => linear(Matrix3::from_diagonal(&exactly::<3>(element)?.into())),
            "rotate" => {
                let [x, y, z, degrees] = exactly::<4>(element)?;
                let axis = Vector3::new(x, y, z).try_normalize(0.0).unwrap_or_else(Vector3::x);
                linear(Rotation::from_scaled_axis(axis * degrees.to_radians()).into_inner())
            }
            "lookat" | "skew" => {
                let found = format!("<{}> (line {})", element.name, element.line);
                return Err(Malformed::new("matrix, translate, rotate or scale in a node", found));
            }
            _ => None,
        })
    }
}

/// Nodes that instance other nodes deeper than this are taken to instance themselves.
const NODE_DEPTH_MAX: usize = 100;
/// The largest number of nodes, counting each instance; a file with more has endless instances.
const NODES_MAX: usize = 100_000;

/// The result of the reader, and the number of nodes that it has visited.
struct Gathered<'a> {
    welder: &'a mut Welder,
    nodes: usize,
}

/// Reads the scene's triangles.
pub(super) fn read(bytes: &[u8], welder: &mut Welder) -> Result<(), Malformed> {
    let root = xml::parse(&String::from_utf8_lossy(bytes))
        .map_err(|error| Malformed::new("an XML document", error.to_string()))?;
    if root.name != "COLLADA" {
        return Err(Malformed::new("<COLLADA>", format!("<{}>", root.name)));
    }
    let mut ids = Ids::new();
    collect_ids(&root, &mut ids);
    let meter = root.child("asset").and_then(|asset| asset.child("unit")).and_then(|unit| unit.attribute("meter"));
    let meter: f64 = meter.map_or(Ok(1.0), number)?;
    let to_meters = Affine { linear: Matrix3::identity() * meter, offset: Vector3::zeros() };
    let mut gathered = Gathered { welder, nodes: 0 };
    let scene = root.child("scene").and_then(|scene| scene.child("instance_visual_scene"));
    match scene.and_then(|instance| target(instance, "url", &ids)) {
        Some(scene) => {
            for node in scene.children("node") {
                add_node(node, &to_meters, &ids, 0, &mut gathered)?;
            }
        }
        None => {
            for geometry in root.children("library_geometries").flat_map(|library| library.children("geometry")) {
                add_geometry(geometry, None, &to_meters, &ids, gathered.welder)?;
            }
        }
    }
    Ok(())
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, Malformed> {
    word.trim().parse().map_err(|_| Malformed::new("a number", format!("`{}`", word.trim())))
}

fn numbers<T: std::str::FromStr>(element: &Element) -> Result<Vec<T>, Malformed> {
    element.text.split_whitespace().map(number).collect()
}

/// The numbers of a transform, as many as it must have.
fn exactly<const N: usize>(element: &Element) -> Result<[f64; N], Malformed> {
    let found = numbers(element)?;
    let count = found.len();
    let wrong =
        |_| Malformed::new(format!("{N} numbers in <{}> (line {})", element.name, element.line), count.to_string());
    found.try_into().map_err(wrong)
}

/// Appends the instances in `node` and the nodes below it, with `X` from the parent's frame to the file's.
fn add_node(node: &Element, X: &Affine, ids: &Ids, depth: usize, gathered: &mut Gathered) -> Result<(), Malformed> {
    gathered.nodes += 1;
    if depth > NODE_DEPTH_MAX || gathered.nodes > NODES_MAX {
        return Err(Malformed::new("nodes that do not instance themselves", "a scene with endless instances"));
    }
    let mut X = *X;
    for child in &node.children {
        if let Some(map) = Affine::of(child)? {
            X = X.after(&map);
        }
    }
    for child in &node.children {
        match child.name.as_str() {
            "node" => add_node(child, &X, ids, depth + 1, gathered)?,
            "instance_node" => {
                let instanced = target(child, "url", ids).ok_or_else(|| dangling(child, "url"))?;
                add_node(instanced, &X, ids, depth + 1, gathered)?;
            }
            "instance_geometry" => {
                let geometry = target(child, "url", ids).ok_or_else(|| dangling(child, "url"))?;
                add_geometry(geometry, Some(child), &X, ids, gathered.welder)?;
            }
            "instance_controller" => {
                // A skinned mesh in its rest shape, which `bind_shape_matrix` places.
                let skin = target(child, "url", ids).and_then(|controller| controller.child("skin"));
                let geometry = skin.and_then(|skin| target(skin, "source", ids));
                let bound = match skin.and_then(|skin| skin.child("bind_shape_matrix")) {
                    Some(matrix) => X.after(&Affine::matrix(matrix)?),
                    None => X,
                };
                let geometry = geometry.ok_or_else(|| dangling(child, "url"))?;
                add_geometry(geometry, Some(child), &bound, ids, gathered.welder)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn dangling(element: &Element, attribute: &str) -> Malformed {
    let reference = element.attribute(attribute).unwrap_or("");
    Malformed::new(
        format!("the element that <{}> in line {} refers to", element.name, element.line),
        format!("no element with the id `{reference}`"),
    )
}

/// Appends a geometry, with the materials that `instance` binds.
fn add_geometry(
    geometry: &Element,
    instance: Option<&Element>,
    X: &Affine,
    ids: &Ids,
    welder: &mut Welder,
) -> Result<(), Malformed> {
    let Some(mesh) = geometry.child("mesh") else { return Ok(()) };
    let bindings = Bindings::of(instance.filter(|_| welder.wants_colors()));
    let mirrored = X.linear.determinant() < 0.0;
    for primitive in &mesh.children {
        if !["triangles", "polylist", "polygons", "trifans", "tristrips"].contains(&primitive.name.as_str()) {
            continue;
        }
        let mut stride = 0;
        let mut vertex_input = None;
        for input in primitive.children("input") {
            let offset: usize = number(input.attribute("offset").unwrap_or("0"))?;
            stride = stride.max(offset + 1);
            if input.attribute("semantic") == Some("VERTEX") {
                vertex_input = Some((offset, target(input, "source", ids).ok_or_else(|| dangling(input, "source"))?));
            }
        }
        let Some((offset, vertices)) = vertex_input else { continue };
        welder.color(|| bindings.color(primitive, ids));
        let positions = positions(vertices, ids)?;
        let polygons = polygons(primitive, stride, offset, &positions)?;
        let corner = |index: usize| {
            let out = || Malformed::new(format!("vertex indices below {}", positions.len()), index.to_string());
            let point = positions.get(index).ok_or_else(out)?;
            Ok::<_, Malformed>(X.apply(point))
        };
        for [a, b, c] in polygons {
            let (a, b, c) = (corner(a)?, corner(b)?, corner(c)?);
            welder.triangle(if mirrored { [a, c, b] } else { [a, b, c] });
        }
    }
    Ok(())
}

/// The positions that a `<vertices>` element names.
fn positions(vertices: &Element, ids: &Ids) -> Result<Vec<Vector3>, Malformed> {
    let input = vertices.children("input").find(|input| input.attribute("semantic") == Some("POSITION"));
    let source = input.and_then(|input| target(input, "source", ids)).ok_or_else(|| dangling(vertices, "id"))?;
    let accessor = source.child("technique_common").and_then(|common| common.child("accessor"));
    let array = match accessor {
        Some(accessor) => target(accessor, "source", ids),
        None => source.child("float_array"),
    };
    let values: Vec<f64> = numbers(array.ok_or_else(|| dangling(source, "id"))?)?;
    let read = |name: &str, default: usize| match accessor.and_then(|accessor| accessor.attribute(name)) {
        Some(word) => number(word),
        None => Ok(default),
    };
    let (stride, start) = (read("stride", 3)?, read("offset", 0)?);
    let count = read("count", values.len() / stride.max(1))?;
    if stride < 3 {
        return Err(Malformed::new("positions with a stride of 3 or more", stride.to_string()));
    }
    let used = values.get(start..).unwrap_or_default().chunks_exact(stride);
    if used.len() < count {
        return Err(Malformed::new(format!("{count} positions in line {}", source.line), used.len().to_string()));
    }
    Ok(used.take(count).map(|xyz| Vector3::new(xyz[0], xyz[1], xyz[2])).collect())
}

/// The triangles of a primitive, as indices of positions; each `<p>` holds `stride` indices per corner.
fn polygons(
    primitive: &Element,
    stride: usize,
    offset: usize,
    positions: &[Vector3],
) -> Result<Vec<[usize; 3]>, Malformed> {
    let mut triangles = Vec::new();
    let corners_of = |p: &Element| -> Result<Vec<usize>, Malformed> {
        let indices: Vec<usize> = numbers(p)?;
        Ok(indices.chunks_exact(stride).map(|corner| corner[offset]).collect())
    };
    match primitive.name.as_str() {
        "triangles" | "polylist" => {
            let corners = primitive.child("p").map_or(Ok(Vec::new()), corners_of)?;
            let stated: usize = number(primitive.attribute("count").unwrap_or("0"))?;
            let counts: Vec<usize> = match primitive.child("vcount") {
                Some(vcount) => numbers(vcount)?,
                None => vec![3; corners.len() / 3],
            };
            let needed = counts.iter().fold(0_usize, |sum, count| sum.saturating_add(*count));
            if counts.len() < stated || corners.len() < needed {
                let expected = format!("{stated} polygons in <{}> (line {})", primitive.name, primitive.line);
                return Err(Malformed::new(expected, format!("{}, {} corners", counts.len(), corners.len())));
            }
            let mut rest = corners.as_slice();
            for count in counts {
                let (polygon, after) = rest.split_at(count);
                cut(&[polygon.to_vec()], positions, &mut triangles)?;
                rest = after;
            }
        }
        "tristrips" => {
            for p in primitive.children("p") {
                let corners = corners_of(p)?;
                // Every second triangle of a strip has the opposite orientation.
                triangles.extend(corners.windows(3).enumerate().map(|(k, corner)| match k % 2 {
                    0 => [corner[0], corner[1], corner[2]],
                    _ => [corner[1], corner[0], corner[2]],
                }));
            }
        }
        "trifans" => {
            for p in primitive.children("p") {
                let corners = corners_of(p)?;
                triangles.extend((2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]));
            }
        }
        _ => {
            for p in primitive.children("p") {
                cut(&[corners_of(p)?], positions, &mut triangles)?;
            }
            for holed in primitive.children("ph") {
                let loops = holed.children("p").take(1).chain(holed.children("h")).map(corners_of);
                cut(&loops.collect::<Result<Vec<_>, _>>()?, positions, &mut triangles)?;
            }
        }
    }
    Ok(triangles)
}

/// Cuts a polygon, its outline and its holes, into triangles.
fn cut(loops: &[Vec<usize>], positions: &[Vector3], triangles: &mut Vec<[usize; 3]>) -> Result<(), Malformed> {
    let point = |index: &usize| {
        let out = || Malformed::new(format!("vertex indices below {}", positions.len()), index.to_string());
        positions.get(*index).copied().ok_or_else(out)
    };
    let outlines = loops.iter().map(|corners| corners.iter().map(point).collect()).collect::<Result<Vec<_>, _>>()?;
    let numbers = loops.concat();
    triangles.extend(polygon::triangles(&outlines).into_iter().map(|corners| corners.map(|corner| numbers[corner])));
    Ok(())
}
