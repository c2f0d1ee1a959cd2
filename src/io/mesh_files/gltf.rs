//! glTF 2.0 (.gltf and .glb): the triangles of the scene, posed by its nodes, with z up.
//!
//! The vertices of the file have y up; they are turned by 90 degrees about x, as in RViz, Drake and Blender.
//! Skinned and morphed meshes have their rest shape. Of materials only the base colour is read. Points, lines
//! and animations are ignored.
//! `gltf_json` has the elements of the format. Indices and lengths are checked here: the file may be
//! truncated or malicious.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gltf_json::accessor::{ComponentType, Type};
use gltf_json::mesh::{Mode, Semantic};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Accessor, Index, Material, Mesh, Node, Root};

use super::addresses::is_below;
use super::malformed::Malformed;
use super::welder::{Color, Welder};
use crate::io::limits;
use crate::math::{Matrix3, Vector3};

/// Nodes deeper than this are taken to be their own descendants.
const NODE_DEPTH_MAX: usize = 100;
/// The largest number of nodes, counting each visit.
const NODES_MAX: usize = 100_000;
/// Extensions that change no triangle, by the beginnings of their names. A file that requires another one,
/// such as compressed vertices or instances, would be read with parts missing.
const HARMLESS: [&str; 9] = [
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_mesh_quantization",
    "KHR_xmp",
    "KHR_animation_",
];

/// Affine map of points p -> linear p + offset.
#[derive(Clone, Copy)]
struct Affine {
    linear: Matrix3,
    offset: Vector3,
}

struct Reader<'a> {
    root: &'a Root,
    buffers: Vec<Vec<u8>>,
    welder: &'a mut Welder,
    nodes: usize,
}

/// Reads the triangles of a glTF file; files that it names are searched for in `folder` and below.
pub(super) fn read(bytes: &[u8], folder: &Path, welder: &mut Welder) -> Result<(), Malformed> {
    let (text, binary) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let root: Root = gltf_json::deserialize::from_slice(text)
        .map_err(|error| Malformed::new("a JSON description of glTF 2.0", error.to_string()))?;
    let is_harmless = |name: &String| HARMLESS.iter().any(|known| name.starts_with(known));
    if let Some(name) = root.extensions_required.iter().find(|name| !is_harmless(name)) {
        let expected = "vertices that are neither compressed nor made by an extension";
        return Err(Malformed::new(expected, format!("the required extension {name}")));
    }
    let buffers = buffers(&root, binary, folder)?;
    let mut reader = Reader { root: &root, buffers, welder, nodes: 0 };
    let z_up = Matrix3::new(1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0);
    let X = Affine { linear: z_up, offset: Vector3::zeros() };
    match &root.scene {
        Some(index) => reader.add_nodes(&item(&root.scenes, index, "scene")?.nodes, &X)?,
        None => match root.scenes.first() {
            Some(scene) => reader.add_nodes(&scene.nodes, &X)?,
            None => reader.add_nodes(&roots(&root), &X)?,
        },
    }
    if root.nodes.is_empty() {
        for mesh in &root.meshes {
            reader.add_mesh(mesh, &X)?;
        }
    }
    Ok(())
}

/// The base colour of a material; `None` if a texture gives it, or there is no such material.
fn base_color(root: &Root, material: &Index<Material>) -> Option<Color> {
    let material = &root.materials.get(material.value())?.pbr_metallic_roughness;
    let [r, g, b, _] = material.base_color_factor.0;
    let plain = material.base_color_texture.is_none() && [r, g, b].iter().all(|channel| channel.is_finite());
    plain.then(|| [r, g, b].map(srgb))
}

/// A channel of the format, which is linear in light, as screens show it (IEC 61966-2-1).
fn srgb(linear: f32) -> f32 {
    let linear = f64::from(linear.clamp(0.0, 1.0));
    let shown = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    shown as f32
}

/// The nodes that are no child of another one.
fn roots(root: &Root) -> Vec<Index<Node>> {
    let mut is_child = vec![false; root.nodes.len()];
    for index in root.nodes.iter().flat_map(|node| node.children.iter().flatten()) {
        if let Some(child) = is_child.get_mut(index.value()) {
            *child = true;
        }
    }
    (0_u32..).zip(is_child).filter(|(_, is_child)| !is_child).map(|(number, _)| Index::new(number)).collect()
}

/// The element of `list` that `index` names.
fn item<'a, T>(list: &'a [T], index: &Index<T>, kind: &str) -> Result<&'a T, Malformed> {
    let out = || Malformed::new(format!("an index of a {kind} below {}", list.len()), index.value().to_string());
    list.get(index.value()).ok_or_else(out)
}

/// Description and buffer of a binary file: a header of 12 bytes, then chunks of length, kind and content.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Malformed> {
    let number = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let stated = number(8).map_or(usize::MAX, |length| length as usize);
    if number(4) != Some(2) || stated > bytes.len() {
        let found = format!("version {}, {} bytes", number(4).unwrap_or(0), bytes.len());
        return Err(Malformed::new(format!("version 2 and {stated} bytes"), found));
    }
    let chunk = |at: usize| {
        let (length, kind) = (number(at)? as usize, bytes.get(at + 4..at + 8)?);
        Some((kind, bytes.get(at + 8..(at + 8).checked_add(length)?)?))
    };
    let (_, text) = chunk(12)
        .filter(|(kind, _)| kind == b"JSON")
        .ok_or_else(|| Malformed::new("a complete chunk `JSON`", "none"))?;
    let binary = chunk(20 + text.len().next_multiple_of(4)).filter(|(kind, _)| kind == b"BIN\0");
    Ok((text, binary.map(|(_, content)| content)))
}

/// The contents of the file's buffers.
fn buffers(root: &Root, binary: Option<&[u8]>, folder: &Path) -> Result<Vec<Vec<u8>>, Malformed> {
    let contents = |(index, buffer): (usize, &gltf_json::Buffer)| {
        let bytes = match buffer.uri.as_deref() {
            None => binary.ok_or_else(|| Malformed::new("a complete chunk `BIN`", "none"))?.to_vec(),
            Some(uri) => match uri.strip_prefix("data:") {
                Some(data) => embedded(data)?,
                None => beside(uri, folder)?,
            },
        };
        let length = buffer.byte_length.0;
        if (bytes.len() as u64) < length {
            return Err(Malformed::new(format!("{length} bytes in buffer {index}"), bytes.len().to_string()));
        }
        Ok(bytes)
    };
    root.buffers.iter().enumerate().map(contents).collect()
}

/// The bytes of a `data:` address.
fn embedded(data: &str) -> Result<Vec<u8>, Malformed> {
    let expected = "data in base64";
    let (_, encoded) = data.split_once(";base64,").ok_or_else(|| Malformed::new(expected, "another encoding"))?;
    STANDARD.decode(encoded).map_err(|error| Malformed::new(expected, error.to_string()))
}

/// The bytes of a file in `folder` or below.
fn beside(uri: &str, folder: &Path) -> Result<Vec<u8>, Malformed> {
    let name = decoded(uri);
    let relative = Path::new(&name);
    if !is_below(relative) {
        return Err(Malformed::new("buffers in the folder of the mesh or below", format!("`{uri}`")));
    }
    limits::read(&folder.join(relative), limits::MESH_BYTES_MAX)
        .map_err(|error| Malformed::new(format!("the buffer `{uri}` beside the mesh"), error.to_string()))
}

/// A name without its percent signs: `my%20part.bin` is `my part.bin`.
fn decoded(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The map of a node: its matrix (column by column), or scale, then rotation, then translation.
fn map(node: &Node) -> Affine {
    let vector = |x: [f32; 3]| Vector3::from(x.map(f64::from));
    if let Some(m) = &node.matrix {
        let column = |k: usize| vector([m[4 * k], m[4 * k + 1], m[4 * k + 2]]);
        return Affine { linear: Matrix3::from_columns(&[column(0), column(1), column(2)]), offset: column(3) };
    }
    let [x, y, z, w] = node.rotation.as_ref().map_or([0.0, 0.0, 0.0, 1.0], |rotation| rotation.0.map(f64::from));
    let rotation = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
    let scale = Matrix3::from_diagonal(&vector(node.scale.unwrap_or([1.0; 3])));
    let offset = vector(node.translation.unwrap_or_default());
    Affine { linear: rotation.to_rotation_matrix().into_inner() * scale, offset }
}

impl Reader<'_> {
    /// Appends the meshes of nodes at the top.
    fn add_nodes(&mut self, nodes: &[Index<Node>], X: &Affine) -> Result<(), Malformed> {
        let root = self.root;
        nodes.iter().try_for_each(|index| self.add_node(item(&root.nodes, index, "node")?, X, 0))
    }

    /// Appends the mesh of `node` and of the nodes below it; `X` maps from the parent's frame.
    fn add_node(&mut self, node: &Node, X: &Affine, depth: usize) -> Result<(), Malformed> {
        self.nodes += 1;
        if depth > NODE_DEPTH_MAX || self.nodes > NODES_MAX {
            return Err(Malformed::new("nodes that do not contain themselves", "a scene without end"));
        }
        let inner = map(node);
        let X = Affine { linear: X.linear * inner.linear, offset: X.linear * inner.offset + X.offset };
        let root = self.root;
        if let Some(index) = &node.mesh {
            self.add_mesh(item(&root.meshes, index, "mesh")?, &X)?;
        }
        for index in node.children.iter().flatten() {
            self.add_node(item(&root.nodes, index, "node")?, &X, depth + 1)?;
        }
        Ok(())
    }

    fn add_mesh(&mut self, mesh: &Mesh, X: &Affine) -> Result<(), Malformed> {
        let mirrored = X.linear.determinant() < 0.0;
        for primitive in &mesh.primitives {
            let Valid(mode) = primitive.mode else {
                return Err(Malformed::new("a mode of primitives from 0 to 6", "another one"));
            };
            let surface = matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan);
            let Some(positions) = primitive.attributes.get(&Valid(Semantic::Positions)).filter(|_| surface) else {
                continue;
            };
            let root = self.root;
            self.welder.color(|| base_color(root, primitive.material.as_ref()?));
            let positions = self.positions(positions)?;
            let indices = match &primitive.indices {
                Some(indices) => self.indices(indices)?,
                None => (0..positions.len()).collect(),
            };
            let corner = |index: usize| {
                let out = || Malformed::new(format!("vertex indices below {}", positions.len()), index.to_string());
                Ok::<_, Malformed>(X.linear * positions.get(index).ok_or_else(out)? + X.offset)
            };
            for [a, b, c] in triangles(mode, &indices) {
                let (a, b, c) = (corner(a)?, corner(b)?, corner(c)?);
                self.welder.triangle(if mirrored { [a, c, b] } else { [a, b, c] });
            }
        }
        Ok(())
    }

    fn positions(&self, index: &Index<Accessor>) -> Result<Vec<Vector3>, Malformed> {
        let accessor = item(&self.root.accessors, index, "accessor")?;
        let floats = matches!(accessor.component_type, Valid(kind) if kind.0 == ComponentType::F32);
        if !floats || accessor.type_ != Valid(Type::Vec3) {
            return Err(Malformed::new(format!("positions of three floats in accessor {}", index.value()), "others"));
        }
        let point = |bytes: &[u8]| {
            let mut point = Vector3::zeros();
            for (x, bytes) in point.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *x = f64::from(f32::from_le_bytes(*bytes));
            }
            point
        };
        Ok(self.entries(index, accessor, 12)?.map(point).collect())
    }

    fn indices(&self, index: &Index<Accessor>) -> Result<Vec<usize>, Malformed> {
        let accessor = item(&self.root.accessors, index, "accessor")?;
        let size = match (accessor.component_type, accessor.type_) {
            (Valid(kind), Valid(Type::Scalar)) => match kind.0 {
                ComponentType::U8 => 1,
                ComponentType::U16 => 2,
                ComponentType::U32 => 4,
                _ => 0,
            },
            _ => 0,
        };
        if size == 0 {
            return Err(Malformed::new(format!("unsigned integers in accessor {}", index.value()), "others"));
        }
        // Least significant byte first.
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte));
        Ok(self.entries(index, accessor, size)?.map(number).collect())
    }

    /// The entries of an accessor, of `size` bytes each.
    fn entries(
        &self,
        index: &Index<Accessor>,
        accessor: &Accessor,
        size: usize,
    ) -> Result<impl Iterator<Item = &[u8]>, Malformed> {
        let name = format!("accessor {}", index.value());
        let view = accessor.buffer_view.as_ref().filter(|_| accessor.sparse.is_none());
        let view = view.ok_or_else(|| Malformed::new(format!("a plain buffer view of {name}"), "a sparse one"))?;
        let view = item(&self.root.buffer_views, view, "buffer view")?;
        let stride = view.byte_stride.map_or(0, |stride| stride.0).max(size);
        let offset = |offset: Option<gltf_json::validation::USize64>| offset.map_or(0, |bytes| bytes.0);
        let bytes = || {
            let start = offset(view.byte_offset);
            let end = usize::try_from(start.checked_add(view.byte_length.0)?).ok()?;
            let start = usize::try_from(start.checked_add(offset(accessor.byte_offset))?).ok()?;
            let bytes = self.buffers.get(view.buffer.value())?.get(start..end)?;
            let count = usize::try_from(accessor.count.0).ok()?;
            let steps = count.saturating_sub(1).checked_mul(stride)?;
            let needed = if count == 0 { 0 } else { steps.checked_add(size)? };
            (needed <= bytes.len()).then_some((bytes, count))
        };
        let out = || Malformed::new(format!("{name} within its buffer"), "one that reaches beyond it");
        let (bytes, count) = bytes().ok_or_else(out)?;
        Ok(bytes.chunks(stride).take(count).map(move |entry| &entry[..size]))
    }
}

/// The triangles of a list, strip or fan of corners.
fn triangles(mode: Mode, corners: &[usize]) -> Vec<[usize; 3]> {
    match mode {
        Mode::TriangleStrip => {
            // Every second triangle of a strip has the opposite orientation.
            let turned = |(k, corner): (usize, &[usize])| match k % 2 {
                0 => [corner[0], corner[1], corner[2]],
                _ => [corner[1], corner[0], corner[2]],
            };
            corners.windows(3).enumerate().map(turned).collect()
        }
        Mode::TriangleFan => match corners.split_first() {
            Some((&first, rest)) => rest.windows(2).map(|edge| [first, edge[0], edge[1]]).collect(),
            None => Vec::new(),
        },
        _ => corners.as_chunks::<3>().0.to_vec(),
    }
}
