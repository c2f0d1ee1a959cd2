//! Mesh files: volumes by the divergence theorem, scales, and cut-short files.

use std::path::Path;

use isobar::geometry::{SurfaceMesh, VolumeMesh};
use isobar::io::mesh_files::{MeshData, read, read_bytes};
use isobar::io::package::PackageMap;
use isobar::math::Vector3;

use super::{golden, packages};

fn toy(file: &str) -> std::path::PathBuf {
    golden().join("install/share/toy/meshes").join(file)
}

fn surface(path: &Path, scale: [f64; 3]) -> SurfaceMesh {
    match read(path, &Vector3::from(scale)).unwrap() {
        MeshData::Surface(mesh) => mesh,
        MeshData::Volume { .. } => panic!("a surface was expected"),
    }
}

/// Enclosed volume; positive only if the triangles look outward.
fn volume(mesh: &SurfaceMesh) -> f64 {
    let corner = |index: u32| mesh.vertices[index as usize];
    mesh.triangles.iter().map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))) / 6.0).sum()
}

fn tets(mesh: &VolumeMesh) -> Vec<f64> {
    let corner = |index: u32| mesh.vertices[index as usize];
    let volume = |[a, b, c, d]: [Vector3; 4]| (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0;
    mesh.tets.iter().map(|tet| volume(tet.map(corner))).collect()
}

/// The unit tetrahedron as a binary STL, with the given text in its head.
fn binary_stl(head: &str) -> Vec<u8> {
    let mut bytes = head.as_bytes().to_vec();
    bytes.resize(80, b' ');
    let (o, x, y, z) = ([0.0_f32; 3], [1.0_f32, 0.0, 0.0], [0.0_f32, 1.0, 0.0], [0.0_f32, 0.0, 1.0]);
    let facets = [[o, y, x], [o, x, z], [o, z, y], [x, y, z]];
    bytes.extend((facets.len() as u32).to_le_bytes());
    for facet in facets {
        bytes.extend([0; 12]);
        bytes.extend(facet.iter().flatten().flat_map(|number| number.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

const ONE: Vector3 = Vector3::new(1.0, 1.0, 1.0);

#[test]
fn stl_is_read_and_welded() {
    let ascii = surface(&golden().join("workspace/src/stack/toy_folder/meshes/tetra.stl"), [1.0; 3]);
    assert_eq!((ascii.vertices.len(), ascii.triangles.len()), (4, 4));
    assert_eq!(volume(&ascii), 1.0 / 6.0);
    // A binary file may begin with the word of ASCII files.
    for head in ["exported", "solid exported"] {
        let binary = read_bytes(&binary_stl(head), "t.STL".as_ref(), &ONE).unwrap();
        assert_eq!(binary, MeshData::Surface(ascii.clone()), "{head}");
        // Also if the writer has appended to the triangles.
        let longer = [binary_stl(head), b"made by a scanner".to_vec()].concat();
        assert_eq!(read_bytes(&longer, "t.stl".as_ref(), &ONE).unwrap(), binary, "{head}");
    }
}

/// An assembly is one solid after the other. Regression: all but the first were left out silently. Some
/// programs write the words in capitals.
#[test]
fn all_solids_of_an_stl_text_are_read() {
    let path = golden().join("workspace/src/stack/toy_folder/meshes/tetra.stl");
    let one = std::fs::read_to_string(path).expect("an STL file");
    let two = format!("{one}\n{}", one.replace("1 0 0", "3 0 0").to_uppercase());
    let read = |text: &str| read_bytes(text.as_bytes(), "t.stl".as_ref(), &ONE).unwrap();
    let (MeshData::Surface(one), MeshData::Surface(two)) = (read(&one), read(&two)) else { panic!("surfaces") };
    assert_eq!((one.triangles.len(), two.triangles.len()), (4, 8));
    let cut = "solid a\nendsolid a\nsolid b\nfacet normal 0 0 1\n";
    let message = read_bytes(cut.as_bytes(), "t.stl".as_ref(), &ONE).unwrap_err().to_string();
    assert!(message.contains("endsolid"), "{message}");
}

/// Joined files without a newline between them, a byte-order mark, and a name with the word of the end.
/// Regression: the second solid was left out silently, and the others were refused.
#[test]
fn odd_stl_texts_are_read_whole() {
    let path = golden().join("workspace/src/stack/toy_folder/meshes/tetra.stl");
    let one = std::fs::read_to_string(path).expect("an STL file");
    let read = |text: &str| match read_bytes(text.as_bytes(), "t.stl".as_ref(), &ONE) {
        Ok(MeshData::Surface(mesh)) => Ok(mesh.triangles.len()),
        Ok(_) => panic!("a surface"),
        Err(error) => Err(error.to_string()),
    };
    let other = one.replace("1 0 0", "3 0 0");
    assert_eq!(read(&format!("{}{other}", one.trim_end())), Ok(8));
    assert_eq!(read(&format!("\u{feff}{one}")), Ok(4));
    let facets = one.split_once('\n').expect("lines").1;
    assert_eq!(read(&format!("solid my endsolid part\n{facets}")), Ok(4));
    let message = read(&format!("{one}\n; second part\n{other}")).unwrap_err();
    assert!(message.contains("`;` in line"), "{message}");
}

#[test]
fn obj_lines_may_end_with_a_carriage_return_alone() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let read = |text: &str| read_bytes(text.as_bytes(), "t.obj".as_ref(), &ONE).unwrap();
    assert_eq!(read(&text.replace('\n', "\r")), read(text));
}

/// The matrix that places the mesh of a skin is applied. Regression: this mesh was ten times too small.
#[test]
fn the_bind_matrix_of_a_collada_skin_is_applied() {
    let text = "<COLLADA><library_geometries><geometry id='g'><mesh><source id='s'><float_array>0 0 0 1 0 0 0 1 0 0 0 1</float_array>\
        </source><vertices id='v'><input semantic='POSITION' source='#s'/></vertices><triangles count='4'>\
        <input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry>\
        </library_geometries><library_controllers><controller id='c'><skin source='#g'>\
        <bind_shape_matrix>10 0 0 5 0 10 0 0 0 0 10 0 0 0 0 1</bind_shape_matrix></skin></controller></library_controllers>\
        <library_visual_scenes><visual_scene id='w'><node><instance_controller url='#c'/></node></visual_scene>\
        </library_visual_scenes><scene><instance_visual_scene url='#w'/></scene></COLLADA>";
    let MeshData::Surface(mesh) = read_bytes(text.as_bytes(), "t.dae".as_ref(), &ONE).unwrap() else { panic!() };
    assert!((volume(&mesh) - 1000.0 / 6.0).abs() < 1e-9);
    assert!(mesh.vertices.contains(&Vector3::new(15.0, 0.0, 0.0)), "{:?}", mesh.vertices);
}

#[test]
fn obj_groups_become_one_closed_mesh() {
    let cube = surface(&toy("cube.obj"), [1.0; 3]);
    assert_eq!((cube.vertices.len(), cube.triangles.len()), (8, 12));
    assert_eq!(volume(&cube), 8.0);
}

/// A line that ends with `\` continues in the next one; comments may follow numbers; lines of two and of more
/// points, and everything that is neither vertex nor face, are no surface.
#[test]
fn obj_lines_are_joined_and_polylines_are_no_faces() {
    let plain = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let odd = "# tetrahedron\nmtllib none.mtl\no t\nv 0 0 \\\n0\nv 1 0 0 # one\nv 0 1 0\r\nv 0 0 1\nl 1 2 3\nl 1 2 3 4\n\
        l 1 2\np 1\nusemtl red\nf 1 3 2\nf 1 \\\r\n 2 \\\n4\ns off\nf 1 4 3 # back\nf -3 -2 -1 \\";
    let read = |text: &str| read_bytes(text.as_bytes(), "t.obj".as_ref(), &ONE).unwrap();
    assert_eq!(read(odd), read(plain));
    // Normals and textures do not matter, and corners may be counted from the last vertex.
    let slashes = plain.replace("f 1 3 2", "f 1/7/9 3//2 2/1").replace("f 2 3 4", "f -3 -2 -1");
    assert_eq!(read(&slashes), read(plain));
}

/// Found by fuzzing: indices that are out of range overflowed in the reader of the format.
#[test]
fn obj_faces_between_vertices_that_are_not_there_are_refused() {
    for corner in ["0", "-5", "5", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "x", "/1"] {
        let text = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 {corner}\n");
        let message = read_bytes(text.as_bytes(), "t.obj".as_ref(), &ONE).unwrap_err().to_string();
        assert!(message.contains("t.obj") && message.contains("vert"), "{message}");
    }
}

/// Volumes scale with the product of the factors' sizes, also when an odd number of them mirrors.
#[test]
fn scales_keep_triangles_outward() {
    for scale in [[0.5, 2.0, 3.0], [-0.5, 2.0, 3.0], [-0.5, -2.0, 3.0], [-0.5, -2.0, -3.0]] {
        assert_eq!(volume(&surface(&toy("cube.obj"), scale)), 8.0 * 3.0, "{scale:?}");
        let MeshData::Volume { mesh, .. } = read(&toy("octant.vtk"), &Vector3::from(scale)).unwrap() else { panic!() };
        assert!(tets(&mesh).iter().all(|volume| (volume - 0.5).abs() < 1e-15), "{scale:?}");
    }
}

#[test]
fn vtk_volumes_are_turned_and_carry_pressure() {
    let MeshData::Volume { mesh, pressure, ignored } = read(&toy("octant.vtk"), &ONE).unwrap() else { panic!() };
    assert!(ignored.is_empty());
    assert_eq!(tets(&mesh), [1.0 / 6.0; 2]);
    assert_eq!(pressure.unwrap(), [100.0, 0.0, 0.0, 0.0, 0.0]);
}

/// Nodes stretch, turn and shift, the unit is a decimetre, `up_axis` has no effect: p = 0.1 (Rz(90) (Rx(90)
/// diag(2, 1, 1) q + (0, 0, 5)) + (10, 0, 0)) = 0.1 (10 + z, 2 x, 5 + y).
#[test]
fn collada_nodes_and_units_are_applied() {
    let tetra = surface(&toy("tetra.dae"), [1.0; 3]);
    assert_eq!((tetra.vertices.len(), tetra.triangles.len()), (4, 4));
    assert!((volume(&tetra) - 2.0e-3 / 6.0).abs() < 1e-15);
    for expected in [[1.0, 0.0, 0.5], [1.0, 0.2, 0.5], [1.0, 0.0, 0.6], [1.1, 0.0, 0.5]] {
        let expected = Vector3::from(expected);
        assert!(tetra.vertices.iter().any(|vertex| (vertex - expected).norm() < 1e-15), "{expected}");
    }
}

/// Fuzz: files cut anywhere or damaged are read or refused; the error of a truncated binary STL states the
/// expected length.
#[test]
fn cut_and_damaged_mesh_files_never_panic() {
    let stl = binary_stl("exported");
    for end in 0..stl.len() {
        let message = read_bytes(&stl[..end], "arm.stl".as_ref(), &ONE).unwrap_err().to_string();
        assert!(message.contains("arm.stl") && message.contains("expected"), "{message}");
    }
    let message = read_bytes(&stl[..100], "arm.stl".as_ref(), &ONE).unwrap_err().to_string();
    assert!(message.contains("284 bytes for 4 triangles") && message.contains("found 100"), "{message}");
    let mut claims_many = stl.clone();
    claims_many[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read_bytes(&claims_many, "a.stl".as_ref(), &ONE).is_err());
    let stl_ascii = golden().join("workspace/src/stack/toy_folder/meshes/tetra.stl");
    for path in [toy("cube.obj"), toy("octant.vtk"), toy("tetra.dae"), stl_ascii] {
        let bytes = std::fs::read(&path).unwrap();
        for end in 0..bytes.len() {
            let _ = read_bytes(&bytes[..end], &path, &ONE);
            for byte in [b'-', b'9', b' ', 0xff] {
                let mut damaged = bytes.clone();
                damaged[end] = byte;
                let _ = read_bytes(&damaged, &path, &ONE);
            }
        }
        assert!(read_bytes(&bytes[..bytes.len() / 4], &path, &ONE).is_err(), "{}", path.display());
    }
}

#[test]
fn wrong_contents_are_named() {
    let cases = [
        ("a.obj", "v 0 0 0\nf 1 2 3\n", "OBJ"),
        ("a.obj", "", "at least one triangle"),
        ("a.vtk", "# vtk DataFile Version 3.0\nx\nBINARY\n", "ASCII"),
        ("a.dae", "<COLLADA/>", "at least one triangle"),
        ("a.dae", "<html/>", "<COLLADA>"),
        ("a.mesh", "", "not supported"),
    ];
    for (file, text, expected) in cases {
        let message = read_bytes(text.as_bytes(), file.as_ref(), &ONE).unwrap_err().to_string();
        assert!(message.contains(file) && message.contains(expected), "{message}");
    }
}

#[test]
fn addresses_lead_to_files() {
    let base = golden();
    let absolute = format!("file://{}", toy("cube.obj").display());
    let addresses = [
        "package://toy/meshes/cube.obj",
        "package:///toy/meshes/cube.obj",
        "model://toy/meshes/cube.obj",
        "package://toy_source/meshes/tetra.stl",
        "install/share/toy/meshes/cube.obj",
        "file://install/share/toy/meshes/cube.obj",
        &absolute,
    ];
    for address in addresses {
        assert!(packages().resolve(address, &base).is_ok(), "{address}");
    }
    // Addresses lead only into their package, even if a file exists elsewhere.
    assert!(packages().resolve("package://toy/meshes/../meshes/cube.obj", &base).is_ok());
    let inside = std::fs::canonicalize(toy("cube.obj")).unwrap();
    let tricks = [
        "package://toy/../toy/meshes/cube.obj".to_owned(),
        "package://../share/toy/meshes/cube.obj".to_owned(),
        "package://./toy/meshes/cube.obj".to_owned(),
        format!("package://toy/{}", inside.display()),
    ];
    for address in tricks {
        assert!(packages().resolve(&address, &base).is_err(), "{address}");
    }
    assert!(packages().resolve_folder("package://toy/meshes", &base).is_some());
    assert!(packages().resolve_folder("package://toy/..", &base).is_none());
    // Without any setting, a robot file inside the package finds it.
    assert!(PackageMap::new().resolve("package://toy/meshes/cube.obj", &base.join("install/share/toy/meshes")).is_ok());
    // An explicit entry takes precedence.
    let mut explicit = packages();
    explicit.insert("toy", base.join("workspace/src/stack/toy_folder"));
    assert!(explicit.resolve("package://toy/meshes/tetra.stl", &base).is_ok());
    assert!(explicit.resolve("package://toy/meshes/cube.obj", &base).is_err());
}
