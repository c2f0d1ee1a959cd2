//! glTF files, made here: poses of nodes, the axis that points up, buffers inside and beside the file.

use std::path::Path;

use isobar::geometry::SurfaceMesh;
use isobar::io::mesh_files::{MeshData, MeshFileError, read, read_bytes};
use isobar::math::Vector3;

const ONE: Vector3 = Vector3::new(1.0, 1.0, 1.0);

/// Corners and faces of the unit tetrahedron: four points of three floats, then twelve indices of two bytes.
fn tetrahedron() -> Vec<u8> {
    let corners: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let faces: [u16; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let mut bytes: Vec<u8> = corners.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend(faces.iter().flat_map(|index| index.to_le_bytes()));
    bytes
}

/// The description of a scene with the tetrahedron in `buffer`, posed by a node's `transform`.
fn description(buffer: &str, transform: &str) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"children": [1], "translation": [0, 0, 1]}}, {{"mesh": 0{transform}}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1}}]}}],
        "accessors": [
          {{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]}},
          {{"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 48}}, {{"buffer": 0, "byteOffset": 48, "byteLength": 24}}],
        "buffers": [{{"byteLength": 72{buffer}}}]}}"#
    )
}

/// A binary file: head, description padded with spaces, buffer.
fn glb(description: &str, buffer: &[u8]) -> Vec<u8> {
    let mut text = description.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF".to_vec();
    let chunk = |kind: &[u8; 4], content: &[u8]| [&(content.len() as u32).to_le_bytes()[..], kind, content].concat();
    let chunks = [chunk(b"JSON", &text), chunk(b"BIN\0", buffer)].concat();
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend((12 + chunks.len() as u32).to_le_bytes());
    bytes.extend(chunks);
    bytes
}

fn surface(data: Result<MeshData, MeshFileError>) -> SurfaceMesh {
    match data.unwrap() {
        MeshData::Surface(mesh) => mesh,
        MeshData::Volume { .. } => panic!("a surface was expected"),
    }
}

fn volume(mesh: &SurfaceMesh) -> f64 {
    let corner = |index: u32| mesh.vertices[index as usize];
    mesh.triangles.iter().map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))) / 6.0).sum()
}

/// The file has y up: its (x, y, z) is (x, -z, y) here. The inner node stretches x by 2, the outer one shifts
/// along z by 1. A mirroring node leaves the triangles outward.
#[test]
fn gltf_nodes_and_the_up_axis_are_applied() {
    let mesh =
        surface(read_bytes(&glb(&description("", r#", "scale": [2, 1, 1]"#), &tetrahedron()), "t.glb".as_ref(), &ONE));
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
    assert_eq!(volume(&mesh), 2.0 / 6.0);
    for expected in [[0.0, -1.0, 0.0], [2.0, -1.0, 0.0], [0.0, -1.0, 1.0], [0.0, -2.0, 0.0]] {
        assert!(mesh.vertices.contains(&Vector3::from(expected)), "{expected:?} in {:?}", mesh.vertices);
    }
    let mirrored = glb(&description("", r#", "scale": [-2, 1, 1]"#), &tetrahedron());
    assert_eq!(volume(&surface(read_bytes(&mirrored, "t.GLB".as_ref(), &ONE))), 2.0 / 6.0);
}

/// A buffer may be part of the file as base64, or a file beside it; a file elsewhere is refused.
#[test]
fn gltf_buffers_are_found_inside_and_beside_the_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf_buffers");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("t.gltf");
    std::fs::write(folder.join("t.bin"), tetrahedron()).unwrap();
    std::fs::write(&file, description(r#", "uri": "t.bin""#, "")).unwrap();
    let beside = surface(read(&file, &ONE));
    assert_eq!(volume(&beside), 1.0 / 6.0);
    const ENCODED: &str =
        "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAACAAEAAAABAAMAAAADAAIAAQACAAMA";
    let inside = format!(r#", "uri": "data:application/octet-stream;base64,{ENCODED}""#);
    assert_eq!(surface(read_bytes(description(&inside, "").as_bytes(), &file, &ONE)), beside);
    for elsewhere in ["../gltf_buffers/t.bin", "/etc/passwd", "missing.bin"] {
        let text = description(&format!(r#", "uri": "{elsewhere}""#), "");
        let message = read_bytes(text.as_bytes(), &file, &ONE).unwrap_err().to_string();
        assert!(message.contains("t.gltf") && message.contains("glTF") && message.contains(elsewhere), "{message}");
    }
}

/// A file without scenes has the nodes that no other node contains. Regression: its meshes were read without
/// their nodes.
#[test]
fn gltf_nodes_count_without_a_scene() {
    let text = description("", r#", "scale": [2, 1, 1]"#);
    let without = text.replace(r#""scene": 0, "scenes": [{"nodes": [0]}],"#, "");
    assert_ne!(text, without);
    let read = |text: &str| surface(read_bytes(&glb(text, &tetrahedron()), "t.glb".as_ref(), &ONE));
    assert_eq!(read(&without), read(&text));
}

/// A buffer's name has percent signs for spaces, as Blender writes it.
#[test]
fn gltf_buffer_names_are_decoded() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf_decoded");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("my part.bin"), tetrahedron()).unwrap();
    let text = description(r#", "uri": "my%20part.bin""#, "");
    assert_eq!(volume(&surface(read_bytes(text.as_bytes(), &folder.join("t.gltf"), &ONE))), 1.0 / 6.0);
    // A percent sign does not lead out of the folder.
    let text = description(r#", "uri": "%2e%2e/gltf_decoded/my%20part.bin""#, "");
    assert!(read_bytes(text.as_bytes(), &folder.join("t.gltf"), &ONE).is_err());
}

/// A required extension may add parts, as instances do: the file is refused. Those of materials do not.
#[test]
fn gltf_extensions_that_add_parts_are_refused() {
    let read = |name: &str| {
        let text = description("", "").replacen('{', &format!(r#"{{"extensionsRequired": ["{name}"], "#), 1);
        read_bytes(&glb(&text, &tetrahedron()), "t.glb".as_ref(), &ONE)
    };
    assert!(read("KHR_materials_unlit").is_ok());
    for name in ["EXT_mesh_gpu_instancing", "KHR_draco_mesh_compression"] {
        let message = read(name).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
}

/// Each byte of the file is replaced, and the file is cut after each: it is read or refused.
#[test]
fn cut_and_damaged_gltf_files_never_panic() {
    let bytes = glb(&description("", ""), &tetrahedron());
    for end in 0..bytes.len() {
        assert!(read_bytes(&bytes[..end], "t.glb".as_ref(), &ONE).is_err(), "{end}");
        for byte in [b'-', b'9', b' ', 0xff] {
            let mut damaged = bytes.clone();
            damaged[end] = byte;
            let _ = read_bytes(&damaged, "t.glb".as_ref(), &ONE);
        }
    }
    let beyond = description("", "").replace(r#""count": 12"#, r#""count": 13"#);
    let message = read_bytes(&glb(&beyond, &tetrahedron()), "t.glb".as_ref(), &ONE).unwrap_err().to_string();
    assert!(message.contains("accessor 1 within its buffer"), "{message}");
    // A node that contains itself.
    let endless = description("", r#", "children": [0]"#);
    assert!(read_bytes(&glb(&endless, &tetrahedron()), "t.glb".as_ref(), &ONE).is_err());
}
