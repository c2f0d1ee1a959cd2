//! Colours of mesh files: COLLADA, glTF and OBJ, the order of precedence with robot files, and pictures.

use std::path::{Path, PathBuf};

use isobar::geometry::{Shape, SurfaceMesh, TriangleColors};
use isobar::io::mesh_files::{self, ColoredMesh, MeshData};
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene};
use isobar::io::urdf::{LoadOptions, load_str};
use isobar::math::{RigidTransform, Vector3};
use isobar::picture::{
    self, Camera, Canvas, Coat, Gloss, Image, Paint, Projection, ScenePicture, Solid, View, scene_picture,
};
use isobar::robot::RobotDescription;
use isobar::stepping::{Simulation, Snapshot};

use crate::drawing::pixels;
use crate::golden::robots_of_others;

const ONE: Vector3 = Vector3::new(1.0, 1.0, 1.0);
const RED: [f32; 3] = [1.0, 0.0, 0.0];
const GREEN: [f32; 3] = [0.0, 0.5, 0.25];

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("mesh_colors_{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn read(folder: &Path, name: &str, contents: &str) -> ColoredMesh {
    let file = folder.join(name);
    std::fs::write(&file, contents).unwrap();
    let colored = mesh_files::read_colored(&file, &ONE).unwrap();
    // Without colours the mesh is the same.
    assert_eq!(mesh_files::read(&file, &ONE).unwrap(), colored.mesh);
    colored
}

/// The colour of each triangle.
fn colors(colored: &ColoredMesh) -> Vec<Option<[f32; 3]>> {
    let MeshData::Surface(surface) = &colored.mesh else { panic!("a surface") };
    let of = |triangle| colored.colors.as_ref().and_then(|colors| colors.of(triangle));
    (0..surface.triangles.len()).map(of).collect()
}

/// A geometry of a triangle of the symbol `skin`, a flat triangle without area, and a polygon of four corners
/// of the symbol `core`. The scene shows it twice; `effects` and `bindings` are those of the file.
fn collada(effects: &[(&str, &str)], bindings: [&str; 2]) -> String {
    let effect = |(name, profile): &(&str, &str)| {
        format!(
            "<effect id='{name}_effect'><profile_COMMON>{profile}</profile_COMMON></effect>\
             <material id='{name}'><instance_effect url='#{name}_effect'/></material>"
        )
    };
    let node = |(number, binding): (usize, &str)| {
        format!(
            "<node><translate>{number} 0 0</translate><instance_geometry url='#g'><bind_material><technique_common>\
             {binding}</technique_common></bind_material></instance_geometry></node>"
        )
    };
    let nodes: String = bindings.into_iter().enumerate().map(node).collect();
    format!(
        "<COLLADA><library_materials>{}</library_materials>\
         <library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a'>\
         0 0 0 1 0 0 1 1 0 0 1 0</float_array></source><vertices id='v'><input semantic='POSITION' source='#p'/></vertices>\
         <triangles material='skin' count='2'><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 1 0 1 3</p></triangles>\
         <polylist material='core' count='1'><input semantic='VERTEX' source='#v' offset='0'/><vcount>4</vcount>\
         <p>0 1 2 3</p></polylist></mesh></geometry></library_geometries>\
         <library_visual_scenes><visual_scene id='s'>{nodes}</visual_scene></library_visual_scenes>\
         <scene><instance_visual_scene url='#s'/></scene></COLLADA>",
        effects.iter().map(effect).collect::<String>()
    )
}

const RED_PHONG: &str = "<technique><phong><emission><color>0 1 0 1</color></emission><diffuse><color>1 0 0 1</color>\
    </diffuse></phong></technique>";
const GREEN_PARAMETER: &str = "<newparam sid='c'><float4>0 0.5 0.25 1</float4></newparam><technique><lambert><diffuse>\
    <param ref='c'/></diffuse></lambert></technique>";

fn bind(skin: &str, core: &str) -> String {
    format!("<instance_material symbol='skin' target='#{skin}'/><instance_material symbol='core' target='#{core}'/>")
}

/// The instances bind the same symbols to different materials. The triangle without area has no place in the
/// list.
#[test]
fn collada_colours_follow_the_bindings_of_each_instance() {
    let effects = [("red", RED_PHONG), ("green", GREEN_PARAMETER)];
    let text = collada(&effects, [&bind("red", "green"), &bind("green", "red")]);
    let read = read(&folder("collada"), "two.dae", &text);
    let (red, green) = (Some(RED), Some(GREEN));
    assert_eq!(colors(&read), [red, green, green, green, red, red]);
    assert!(read.notes.is_empty());
}

/// Textures, dangling references, numbers that are none and symbols without a material give no colour and no
/// error. A constant shading has the emitted colour, and an unbound symbol may be the name of a material.
#[test]
fn collada_materials_without_a_colour_give_none() {
    let none = [
        "<technique><phong><diffuse><texture texture='t' texcoord='u'/></diffuse></phong></technique>",
        "<technique><blinn><diffuse><color>1 0</color></diffuse></blinn></technique>",
        "<technique><blinn><diffuse><color>1 nan 0 1</color></diffuse></blinn></technique>",
        "<technique><blinn><diffuse><param ref='missing'/></diffuse></blinn></technique>",
        "<technique><phong><emission><color>1 0 0 1</color></emission></phong></technique>",
        "<technique><other/></technique>",
        "",
    ];
    let folder = folder("collada_none");
    for profile in none {
        let text = collada(&[("none", profile), ("red", RED_PHONG)], [&bind("none", "red"), &bind("missing", "red")]);
        let (red, read) = (Some(RED), read(&folder, "none.dae", &text));
        assert_eq!(colors(&read), [None, red, red, None, red, red], "{profile}");
    }
    let text = collada(&[("red", RED_PHONG)], ["", ""]);
    assert_eq!(read(&folder, "unbound.dae", &text).colors, None);
    let constant = "<technique><constant><emission><color>1 0 0 1</color></emission></constant></technique>";
    let text = collada(&[("skin", constant)], ["", ""]);
    assert_eq!(colors(&read(&folder, "names.dae", &text)), [Some(RED), None, None, Some(RED), None, None]);
}

/// Two triangles, each a mesh of its own with its own material. Oracle: the inverse of sRGB's definition,
/// ((c + 0.055)/1.055)^2.4. The result is rounded in single precision some ten times, by 6e-8 of at most 1.
#[test]
fn gltf_base_colours_are_converted_to_those_of_the_screen() {
    let text = |materials: &str| {
        let bytes: Vec<u8> =
            [[0.0_f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let buffer = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
        let primitive = |material: &str| format!("{{\"attributes\": {{\"POSITION\": 0}}{material}}}");
        let primitives = ["", ", \"material\": 0", ", \"material\": 1", ", \"material\": 2"].map(primitive).join(", ");
        format!(
            "{{\"asset\": {{\"version\": \"2.0\"}}, \"scenes\": [{{\"nodes\": [0]}}], \"nodes\": [{{\"mesh\": 0}}],\
             \"meshes\": [{{\"primitives\": [{primitives}]}}], \"materials\": [{materials}],\
             \"accessors\": [{{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}}],\
             \"bufferViews\": [{{\"buffer\": 0, \"byteLength\": 36}}],\
             \"buffers\": [{{\"byteLength\": 36, \"uri\": \"data:application/octet-stream;base64,{buffer}\"}}]}}"
        )
    };
    let folder = folder("gltf");
    let shown = [0.8_f64, 0.2, 0.02];
    let linear = shown.map(|c| if c > 0.04045 { ((c + 0.055) / 1.055).powf(2.4) } else { c / 12.92 });
    let factor = format!("\"baseColorFactor\": [{}, {}, {}, 1]", linear[0], linear[1], linear[2]);
    let plain = format!("{{\"pbrMetallicRoughness\": {{{factor}}}}}");
    let textured = format!("{{\"pbrMetallicRoughness\": {{{factor}, \"baseColorTexture\": {{\"index\": 0}}}}}}");
    let found = colors(&read(&folder, "two.gltf", &text(&format!("{plain}, {textured}"))));
    assert_eq!([found[0], found[2], found[3]], [None; 3], "no material, a texture, an index without a material");
    for (found, shown) in found[1].unwrap().iter().zip(shown) {
        assert!((f64::from(*found) - shown).abs() < 1e-6, "{found} for {shown}");
    }
    let white =
        read(&folder, "white.gltf", &text("{}, {\"pbrMetallicRoughness\": {\"baseColorFactor\": [2, 0, -1, 1]}}"));
    assert_eq!(colors(&white), [None, Some([1.0; 3]), Some(RED), None]);
}

/// A square of two triangles: red below its diagonal, and green above.
const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

/// A polygon counts as one face; a face of two corners is none. The material files have the line ends of
/// Windows. They are in the folder below, in one line.
#[test]
fn obj_materials_come_from_files_in_the_folder() {
    let folder = folder("obj");
    std::fs::create_dir(folder.join("below")).unwrap();
    std::fs::write(folder.join("one.mtl"), "# a\r\nnewmtl red paint\r\n  Ka 1 1 1\r\n\tKd 1.0 0 0\r\nnewmtl bare\r\n")
        .unwrap();
    let second = "newmtl green\r\nKd 0 0.5 0.25 # dark\r\nnewmtl wood\r\nKd 1 1 1\r\nmap_Kd wood.png\r\nKd 1 0 0\r\n\
                  newmtl grey\r\nKd 0.5\r\nnewmtl xyz\r\nKd xyz 1 1 1\r\n";
    std::fs::write(folder.join("below/two.mtl"), second).unwrap();
    let faces = "mtllib one.mtl .\\below\\two.mtl\nf 1 2 3\nusemtl red paint\nf 1 2\nf 1 2 3 4\nusemtl green\ng part\n\
                 f 1 3 4\nf 1 3 4\nusemtl bare\nf 1 2 3\nusemtl wood\nf 1 2 3\nusemtl grey\nf 1 2 3\nusemtl xyz\nf 1 2 3\n\
                 usemtl missing\nf 1 2 3\nusemtl red paint\nusemtl green # as above\nf 1 2 3\n";
    let read = read(&folder, "two.obj", &format!("{SQUARE}{faces}"));
    let (red, green, grey) = (Some(RED), Some(GREEN), Some([0.5; 3]));
    assert_eq!(colors(&read), [None, red, red, green, green, None, None, grey, None, None, green]);
    assert!(read.notes.is_empty(), "{:?}", read.notes);
    assert!(read.colors.is_some_and(|colors| colors.palette.len() == 4), "each colour once");
}

/// Material files that are missing, elsewhere or too many are no error, and are named.
#[test]
fn obj_material_files_elsewhere_are_not_read() {
    let folder = folder("obj_elsewhere");
    std::fs::create_dir(folder.join("inner")).unwrap();
    std::fs::write(folder.join("outer.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    // A pipe would be waited for; a folder stands for all that is no file.
    std::fs::create_dir(folder.join("inner/folder.mtl")).unwrap();
    let absolute = folder.join("outer.mtl").display().to_string();
    for (name, why) in [
        ("../outer.mtl", "neither in the folder of the mesh nor below"),
        (&absolute, "neither in the folder of the mesh nor below"),
        ("..\\outer.mtl", "neither in the folder of the mesh nor below"),
        ("none.mtl", "there is no such file"),
        ("my none.mtl", "there is no such file"),
        ("folder.mtl", "it is not a file"),
    ] {
        let text = format!("mtllib {name}\nmtllib {name}\n{SQUARE}usemtl red\nf 1 2 3\n");
        let read = read(&folder.join("inner"), "one.obj", &text);
        assert!(read.colors.is_none(), "{name}");
        assert!(matches!(&read.notes[..], [note] if note.contains(why) && note.contains(name)), "{:?}", read.notes);
    }
    let many: String = (0..1000).map(|k| format!("mtllib {k}.mtl\n")).collect();
    let read = read(&folder, "many.obj", &format!("{many}{SQUARE}f 1 2 3\n"));
    assert!(read.notes.len() == 101 && read.notes[100].contains("only 100"), "{}", read.notes.len());
}

const TWO_COLORS: &str = "mtllib two.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n\
    usemtl a\nf 1 2 3\nusemtl b\nf 1 3 4\n";
const MATERIALS: &str = "newmtl a\nKd 0.8 0.2 0.4\nnewmtl b\nKd 0.2 0.6 0.2\n";

/// A robot of two links whose visual is the square: the first with a material, the second without.
fn robot(folder: &Path, visual_meshes: bool) -> RobotDescription {
    let link = |name: &str, material: &str| {
        format!(
            "<link name='{name}'><visual><geometry><mesh filename='two.obj'/></geometry>{material}</visual>\
             <visual><geometry><mesh filename='two.obj'/></geometry>{material}</visual>\
             <collision><geometry><mesh filename='two.obj'/></geometry></collision></link>"
        )
    };
    let links = link("given", "<material name='m'><color rgba='0 0 1 1'/></material>") + &link("own", "");
    let text = format!(
        "<robot name='r'>{links}<joint name='j' type='fixed'><parent link='given'/><child link='own'/></joint></robot>"
    );
    let options = LoadOptions { load_visual_meshes: visual_meshes, ..LoadOptions::default() };
    load_str(&text, Path::new("robot.urdf"), folder, &PackageMap::new(), &options).unwrap()
}

/// A material of the robot file takes precedence over the colours of the mesh. Without visual meshes neither
/// colours nor material files are read; with them a missing file is named once.
#[test]
fn a_material_of_the_robot_file_takes_precedence() {
    let folder = folder("precedence");
    std::fs::write(folder.join("two.obj"), TWO_COLORS).unwrap();
    let missing = robot(&folder, true);
    let named: Vec<String> = missing.warnings.iter().map(ToString::to_string).collect();
    assert!(matches!(&named[..], [one] if one.contains("two.obj") && one.contains("`two.mtl`")), "{named:?}");
    assert!(missing.link("own").unwrap().visuals.iter().all(|visual| visual.mesh_colors.is_none()));
    assert!(robot(&folder, false).warnings.is_empty());
    std::fs::write(folder.join("two.mtl"), MATERIALS).unwrap();
    let read = robot(&folder, true);
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    for visual in &read.link("own").unwrap().visuals {
        let colors = visual.mesh_colors.as_ref().unwrap();
        assert_eq!((colors.of(0), colors.of(1)), (Some([0.8, 0.2, 0.4]), Some([0.2, 0.6, 0.2])));
    }
    assert!(read.link("given").unwrap().visuals.iter().all(|visual| visual.mesh_colors.is_none()));
    let bare = robot(&folder, false);
    assert!(bare.links.iter().flat_map(|link| &link.visuals).all(|visual| visual.mesh_colors.is_none()));
}

/// A camera above the origin shows 1 m x 1 m, so the square's half below the diagonal is at the lower right,
/// and the other one above. Between them is a triangle without area, which a solid leaves out.
#[test]
fn triangles_are_drawn_in_their_colours() {
    let vertices = [[-0.4, -0.4], [0.4, -0.4], [0.4, 0.4], [-0.4, 0.4]].map(|[x, y]| Vector3::new(x, y, 0.0)).to_vec();
    let mesh = SurfaceMesh { vertices, triangles: vec![[0, 1, 2], [0, 0, 1], [0, 2, 3]] };
    let colors = TriangleColors { palette: vec![Some([0.8, 0.2, 0.4]), None], of_triangle: vec![0, 0, 1] };
    let (solid, colors) = Solid::from_visual(&Shape::Mesh(mesh.into()), Some(&colors), [0.2, 0.6, 0.2]).unwrap();
    let eye = Vector3::new(0.0, 0.0, 5.0);
    let camera = Camera::look_at(&eye, &Vector3::zeros(), &Vector3::y(), Projection::Orthographic { height: 1.0 });
    let mut canvas = Canvas::new(100, 100, camera, [1.0; 3]).unwrap();
    let colors = colors.unwrap();
    let paint = Paint { coat: Coat::Colors(&colors.vertices), alpha: 1.0, gloss: Gloss::Flat };
    canvas.solid(&solid, &RigidTransform::identity(), &paint).unwrap();
    let image = canvas.finish();
    assert_eq!((image.pixel(80, 80), image.pixel(20, 20)), ([204, 51, 102], [51, 153, 51]));
    assert_eq!((image.pixel(72, 70), image.pixel(70, 72)), (image.pixel(80, 80), image.pixel(80, 80)));
    assert_eq!(image.pixel(28, 30), image.pixel(20, 20));
    assert_eq!((colors.vertices.len(), colors.creases.len()), (solid.vertices.len(), solid.creases.len()));
}

fn start(loaded: &LoadedScene) -> Snapshot {
    let simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).unwrap();
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    snapshot
}

fn draw(loaded: &LoadedScene, size: (usize, usize), name: &str) -> Image {
    let snapshot = start(loaded);
    let (scene, visuals, view) = (&loaded.scene, loaded.visuals.as_slice(), View::default());
    let picture = ScenePicture { scene, snapshot: &snapshot, visuals, view, contact: false, size, title: "" };
    let image = scene_picture(&picture).unwrap();
    picture::write_png(&image, &Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).unwrap();
    image
}

/// The number of pixels that pass a test of red, green and blue.
fn count(image: &Image, test: impl Fn(f64, f64, f64) -> bool) -> usize {
    let pixels = image.bytes().chunks_exact(3);
    pixels.filter(|p| test(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]))).count()
}

/// A box whose lower half is red and whose upper half is blue in its file, in a scene: light and shade keep
/// the order of the channels. With `color` in the scene it is green.
#[test]
fn a_body_of_a_scene_has_the_colours_of_its_mesh() {
    let folder = folder("scene");
    std::fs::write(folder.join("box.mtl"), "newmtl red\nKd 0.9 0.1 0.1\nnewmtl blue\nKd 0.1 0.1 0.9\n").unwrap();
    let corners: String =
        (0..12).map(|k| format!("v {} {} {}\n", k & 1, k >> 1 & 1, f64::from(k >> 2) * 0.5)).collect();
    let sides = |k: u32| {
        let quads = [[1, 2, 6, 5], [2, 4, 8, 6], [4, 3, 7, 8], [3, 1, 5, 7]];
        let quad = |q: [u32; 4]| format!("f {} {} {} {}\n", q[0] + k, q[1] + k, q[2] + k, q[3] + k);
        quads.map(quad).concat()
    };
    let obj =
        format!("mtllib box.mtl\n{corners}usemtl red\nf 1 3 4 2\n{}usemtl blue\n{}f 9 10 12 11\n", sides(0), sides(4));
    std::fs::write(folder.join("box.obj"), obj).unwrap();
    let scene = |color: &str| {
        let text = format!("models: [{{ name: b, mesh: box.obj, weld: {{}}{color} }}]\n");
        std::fs::write(folder.join("scene.yaml"), text).unwrap();
        scene_file::load_with_visual_meshes(&folder.join("scene.yaml"), &PackageMap::new()).unwrap()
    };
    let own = draw(&scene(""), (320, 240), "mesh_colors.png");
    let reds = |image: &Image| count(image, |r, g, b| r > 70.0 && r > 2.0 * g.max(b));
    let blues = |image: &Image| count(image, |r, g, b| b > 70.0 && b > 2.0 * r.max(g));
    let greens = |image: &Image| count(image, |r, g, b| g > 70.0 && g > 2.0 * r.max(b));
    // Two sides of each half are seen, and the upper face is blue too. The axes have less than 150 pixels.
    let (red, blue) = (reds(&own), blues(&own));
    assert!(red > 3_000 && blue > 3 * red / 2 && greens(&own) < 150, "{red} red, {blue} blue, {}", greens(&own));
    let given = draw(&scene(", color: [0.1, 0.9, 0.1]"), (320, 240), "mesh_color_given.png");
    let others = reds(&given) + blues(&given);
    assert!(greens(&given) > 6_000 && others < 300, "{} green, {others} others", greens(&given));
}

/// The square of two colours, 3.2 m from the camera of a drawing: some 60 pixels wide, and foreshortened.
#[test]
fn a_drawing_shows_the_colours_of_meshes() {
    let folder = folder("drawing");
    std::fs::write(folder.join("two.obj"), TWO_COLORS).unwrap();
    std::fs::write(folder.join("two.mtl"), MATERIALS).unwrap();
    let urdf = "<robot name='r'><link name='own'><visual><geometry><mesh filename='two.obj'/></geometry></visual>\
                </link></robot>";
    let text = format!(
        "{{\"size\": [160, 120], \"background\": [0, 0, 0], \"surfaces\": [], \"lines\": [], \"camera\": {{\"eye\": \
         [0.5, -2, 2], \"target\": [0.5, 0.5, 0], \"field_of_view\": 0.6}}, \"robots\": [{{\"urdf\": \"{urdf}\", \
         \"alpha\": 1, \"links\": {{\"own\": {{\"position\": [0, 0, 0], \"orientation\": [0, 0, 0, 1]}}}}}}]}}"
    );
    let (file, out) = (folder.join("drawing.json"), folder.join("drawing.png"));
    std::fs::write(&file, text).unwrap();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
    let output = program.arg("draw").arg(&file).arg("--out").arg(&out).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (_, pixels) = pixels(&out);
    let count = |test: fn(i32, i32, i32) -> bool| {
        pixels.iter().map(|pixel| pixel.map(i32::from)).filter(|[r, g, b]| test(*r, *g, *b)).count()
    };
    let (a, b) = (count(|r, g, b| r > 60 && 2 * r > 5 * g && b > g), count(|r, g, b| g > 60 && g > 2 * r.max(b)));
    assert!(a > 500 && b > 500, "{a} and {b} pixels");
}

/// The Panda of example-robot-data states white, light grey, dark grey, black and a few vivid colours in its
/// COLLADA files, and no material in its URDF.
#[test]
fn the_panda_is_white_and_grey() {
    let Some(data) = robots_of_others() else { return };
    let folder = folder("panda");
    let urdf = data.join("robots/panda_description/urdf/panda.urdf");
    let joints = "joints: { panda_joint2: -0.4, panda_joint4: -2.1, panda_joint6: 1.9 }";
    let scene = format!(
        "models: [{{ name: panda, urdf: {}, weld: {{}}, {joints} }}]\n",
        urdf.canonicalize().unwrap().display()
    );
    std::fs::write(folder.join("panda.yaml"), scene).unwrap();
    let mut packages = PackageMap::new();
    packages.insert("example-robot-data", &data);
    let loaded = scene_file::load_with_visual_meshes(&folder.join("panda.yaml"), &packages).unwrap();
    let colors: Vec<_> = loaded.visuals.iter().filter_map(|visual| visual.mesh_colors.as_ref()).collect();
    assert_eq!((loaded.visuals.len(), colors.len()), (11, 11));
    let missing = |colors: &TriangleColors| (0..colors.of_triangle.len()).any(|triangle| colors.of(triangle).is_none());
    assert!(!colors.iter().any(|colors| missing(colors)), "every triangle has a colour");
    // The caps of elbow and wrist and the buttons at the flange are dark grey. The default colours of bodies
    // would differ by 0.3 between channels, as the lamps do.
    let image = draw(&loaded, (800, 800), "panda.png");
    let dark = count(&image, |r, g, b| r.max(g).max(b) < 80.0);
    let vivid = count(&image, |r, g, b| r.max(g).max(b) - r.min(g).min(b) > 50.0);
    assert!(dark > 8_000 && vivid < 1_000, "{dark} dark pixels, {vivid} vivid ones");
}
