//! Meshes of a scene: their defects are reported, and the contents of their files are used.

use std::fmt::Write;
use std::path::PathBuf;

use isobar::geometry::{HydroelasticGeometry, Shape, SurfaceMesh};
use isobar::io::mesh_files;
use isobar::io::package::PackageMap;
use isobar::io::scene_file::{self, LoadedScene, SceneError};
use isobar::math::{Index, RigidTransform, Vector3};
use isobar::stepping::{JointCommand, Simulation};

use crate::fill::surfaces::{cuboid, ell};

/// A folder of its own for a test, with a scene of one free robot in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
    /// A robot of one link with a collision element for each of (name, file, properties), and a scene of it 5
    /// mm in the ground.
    fn robot(&self, elements: &[(&str, &str, &str)]) {
        let mut urdf =
            "<robot name='r' xmlns:drake='http://drake.mit.edu'><link name='body'><inertial><mass value='1'/>\
                        <inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial>\n"
                .to_owned();
        for (name, file, properties) in elements {
            writeln!(
                urdf,
                "<collision name='{name}'><geometry><mesh filename='{file}'/></geometry><drake:proximity_properties>\
                 {properties}</drake:proximity_properties></collision>"
            )
            .unwrap();
        }
        self.write("robot.urdf", &(urdf + "</link></robot>"));
        self.write(
            "scene.yaml",
            "models: [{ name: r, urdf: robot.urdf, free: { xyz: [0, 0, 0.01] } }]\nground: {}\ncontact: { faces: polygons }\n",
        );
    }
    fn load(&self) -> Result<LoadedScene, SceneError> {
        scene_file::load(&self.0.join("scene.yaml"), &PackageMap::new())
    }
    fn program(&self, arguments: &[&str]) -> (String, String) {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        let output = program.current_dir(&self.0).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

fn obj(mesh: &SurfaceMesh) -> String {
    let mut text = String::new();
    mesh.vertices.iter().for_each(|p| writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap());
    mesh.triangles.iter().for_each(|t| writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1).unwrap());
    text
}

/// Both meshes as one.
fn joined(a: &SurfaceMesh, b: &SurfaceMesh, shift: Vector3) -> SurfaceMesh {
    let first = a.vertices.len() as u32;
    let mut mesh = a.clone();
    mesh.vertices.extend(b.vertices.iter().map(|p| p + shift));
    mesh.triangles.extend(b.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    mesh
}

const SOFT: &str = "<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='1e5'/>";
const RIGID: &str = "<drake:rigid_hydroelastic/>";

/// Repairs, parts that are left out, and defects of rigid meshes are warnings of the scene, of `isobar run`
/// and of `isobar inspect`, each with the geometry's name.
#[test]
fn faults_of_a_mesh_are_reported_when_a_scene_is_loaded() {
    let folder = Folder::new("mesh_notes");
    let mut turned = ell();
    turned.triangles[3].swap(0, 1);
    turned.triangles[5].swap(0, 1);
    let needle = joined(&ell(), &cuboid(Vector3::new(2e-4, 2e-4, 0.02)), Vector3::new(0.02, 0.02, 0.015 + 0.02));
    let mut inverted = ell();
    inverted.triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1));
    let mut open = ell();
    open.triangles.pop();
    let through = joined(&ell(), &ell(), Vector3::new(0.02, 0.02, 0.011));
    let cases = [
        ("turned", &turned, SOFT, "the mesh was repaired: 2 triangles turned to agree with their neighbours"),
        ("needle", &needle, SOFT, "is left out (0.2 % of the surface): it reaches"),
        ("inverted", &inverted, RIGID, "the mesh was repaired: 1 components turned inside out"),
        ("open", &open, RIGID, "the rigid mesh is open: 3 edges"),
        ("through", &through, RIGID, "parts of the rigid mesh intersect"),
        ("good", &ell(), RIGID, ""),
        ("soft", &ell(), SOFT, ""),
    ];
    for (name, mesh, ..) in &cases {
        folder.write(&format!("{name}.obj"), &obj(mesh));
    }
    let files: Vec<String> = cases.iter().map(|(name, ..)| format!("{name}.obj")).collect();
    let elements: Vec<(&str, &str, &str)> =
        cases.iter().zip(&files).map(|((name, _, properties, _), file)| (*name, file.as_str(), *properties)).collect();
    folder.robot(&elements);
    let loaded = folder.load().unwrap();
    let (_, run) = folder.program(&["run", "scene.yaml", "--duration", "0.001"]);
    let (inspect, _) = folder.program(&["inspect", "robot.urdf"]);
    for (name, _, _, expected) in cases {
        let of_scene: Vec<&String> =
            loaded.warnings.iter().filter(|text| text.starts_with(&format!("`body/{name}`"))).collect();
        let of_run = run.lines().find(|line| line.starts_with(&format!("warning: `body/{name}`")));
        let of_inspect = inspect.lines().find(|line| line.contains(&format!("collision `{name}`: ")));
        if expected.is_empty() {
            assert!(
                of_scene.is_empty() && of_run.is_none() && of_inspect.is_none(),
                "{name}: {of_scene:?} {of_inspect:?}"
            );
            continue;
        }
        assert!(of_scene.iter().any(|text| text.contains(expected)), "{name}: {:?}", loaded.warnings);
        assert!(of_run.is_some_and(|text| text.contains(expected)), "{name}: {run}");
        assert!(of_inspect.is_some_and(|text| text.contains(expected)), "{name}: {inspect}");
    }
    // An inverted rigid mesh makes contact like a correct one.
    let geometry = |name: &str| {
        let mut all = loaded.scene.geometries().iter();
        all.find(|geometry| geometry.name == format!("body/{name}")).unwrap().hydroelastic.clone()
    };
    let (HydroelasticGeometry::RigidSurface(a), HydroelasticGeometry::RigidSurface(b)) =
        (geometry("inverted"), geometry("good"))
    else {
        panic!("rigid surfaces")
    };
    let enclosed = |surface: &SurfaceMesh| isobar::geometry::make::centroid(surface).0;
    assert!((enclosed(a.mesh()) - enclosed(b.mesh())).abs() < 1e-12 * enclosed(b.mesh()).abs());
}

/// A grid of tetrahedra with `fields` at its vertices, as a legacy VTK file.
fn vtk(vertices: &[[f64; 3]], tets: &[[u32; 4]], fields: &[(&str, Vec<f64>)]) -> String {
    let mut text = "# vtk DataFile Version 3.0\ntest\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_owned();
    writeln!(text, "POINTS {} double", vertices.len()).unwrap();
    vertices.iter().for_each(|[x, y, z]| writeln!(text, "{x} {y} {z}").unwrap());
    writeln!(text, "CELLS {} {}", tets.len(), 5 * tets.len()).unwrap();
    tets.iter().for_each(|[a, b, c, d]| writeln!(text, "4 {a} {b} {c} {d}").unwrap());
    writeln!(text, "CELL_TYPES {}", tets.len()).unwrap();
    tets.iter().for_each(|_| text.push_str("10\n"));
    writeln!(text, "POINT_DATA {}", vertices.len()).unwrap();
    for (name, values) in fields {
        writeln!(text, "SCALARS {name} double 1\nLOOKUP_TABLE default").unwrap();
        values.iter().for_each(|value| writeln!(text, "{value}").unwrap());
    }
    text
}

/// An octahedron of radius 5 cm: eight tetrahedra around its centre, vertex 6.
fn octahedron() -> (Vec<[f64; 3]>, Vec<[u32; 4]>) {
    let r = 0.05;
    let vertices =
        vec![[r, 0.0, 0.0], [-r, 0.0, 0.0], [0.0, r, 0.0], [0.0, -r, 0.0], [0.0, 0.0, r], [0.0, 0.0, -r], [0.0; 3]];
    let mut tets = Vec::new();
    for x in [0, 1] {
        for y in [2, 3] {
            tets.extend([4, 5].map(|z| [x, y, z, 6]));
        }
    }
    (vertices, tets)
}

/// The pressures that a VTK file states are the field, independent of the modulus; without them the field is
/// the modulus times the distance. A link in a scene made of such a mesh is carried by the ground with that
/// pressure. Other fields are reported.
#[test]
fn a_volume_mesh_may_bring_its_pressure() {
    let folder = Folder::new("vtk_pressure");
    let (vertices, tets) = octahedron();
    let own: Vec<f64> = (0..7).map(|vertex| if vertex == 6 { 3e4 } else { 0.0 }).collect();
    let heat = vec![1.0; 7];
    folder.write("own.vtk", &vtk(&vertices, &tets, &[("Temperature", heat.clone()), ("Pressure_Pa", own.clone())]));
    folder.write("plain.vtk", &vtk(&vertices, &tets, &[("Temperature", heat)]));
    for (file, deepest, pressures) in [("own.vtk", 3e4, "own"), ("plain.vtk", 1e5, "distance")] {
        folder.robot(&[("volume", file, SOFT)]);
        let loaded = folder.load().unwrap();
        assert!(loaded.warnings.iter().any(|text| text.contains("`Temperature`")), "{:?}", loaded.warnings);
        let HydroelasticGeometry::CompliantVolume(field) =
            &loaded.scene.geometries().iter().last().unwrap().hydroelastic
        else {
            panic!("a compliant volume")
        };
        assert!((field.pressure()[6] - deepest).abs() < 1e-9 * deepest, "{pressures}: {:?}", field.pressure());
        assert!(field.pressure()[..6].iter().all(|pressure| *pressure == 0.0));
        let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).unwrap();
        let report = simulation.step(&JointCommand::default()).unwrap();
        assert!(report.faces > 0);
        let mut snapshot = isobar::stepping::Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let patch = &snapshot.contact_patches()[0];
        // The section at height z = -0.01: |x| + |y| <= 0.04, p = deepest (1 - (|x| + |y| + 0.01) / 0.05).
        assert!((patch.area - 2.0 * 0.04 * 0.04).abs() < 1e-12, "{}", patch.area);
        let force: f64 = patch.faces.area.iter().zip(&patch.faces.pressure).map(|(area, p)| area * p).sum();
        let exact = deepest * (2.0 * 0.04 * 0.04) * (0.04 / 0.05) / 3.0;
        assert!((force - exact).abs() < 1e-9 * exact, "{force} {exact}");
    }
}

/// Tetrahedra without a vertex inside have no pressure: they are counted, contact stays finite, and a mesh
/// with only such tetrahedra is refused, with the remedy.
#[test]
fn tetrahedra_without_an_inner_vertex_are_reported() {
    let folder = Folder::new("vtk_no_interior");
    let (mut vertices, mut tets) = octahedron();
    // A spike on one face, outside.
    vertices.push([0.05, 0.05, 0.05]);
    tets.push([0, 2, 4, 7]);
    folder.write("spike.vtk", &vtk(&vertices, &tets, &[]));
    folder.robot(&[("spike", "spike.vtk", SOFT)]);
    let loaded = folder.load().unwrap();
    let told = loaded.warnings.iter().any(|text| text.contains("1 of 9 tetrahedra have no corner inside"));
    assert!(told, "{:?}", loaded.warnings);
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).unwrap();
    let body = loaded.scene.free_bodies()[0];
    for _ in 0..200 {
        simulation.step(&JointCommand::default()).unwrap();
    }
    assert!(simulation.data().X_WB[body].translation.vector.iter().all(|x| x.is_finite()), "{}", body.to_usize());
    // The other vertices are in the file, and in no tetrahedron.
    folder.write("one.vtk", &vtk(&vertices, &[[0, 2, 4, 7]], &[]));
    folder.robot(&[("one", "one.vtk", SOFT)]);
    let mut error: &dyn std::error::Error = &folder.load().unwrap_err();
    let mut text = error.to_string();
    while let Some(cause) = error.source() {
        error = cause;
        text = format!("{text}; {error}");
    }
    assert!(text.contains("body/one") && text.contains("add a vertex inside"), "{text}");
}

/// `contact: { faces: triangles }` divides every face; the velocity after one step changes by less than 5 %.
#[test]
fn a_scene_chooses_polygons_or_triangles() {
    let folder = Folder::new("faces_choice");
    folder.write("ell.obj", &obj(&ell()));
    let first_step = |faces: &str| {
        folder.robot(&[("ell", "ell.obj", SOFT)]);
        let scene = std::fs::read_to_string(folder.0.join("scene.yaml")).unwrap();
        folder.write("scene.yaml", &scene.replace("polygons", faces));
        let loaded = folder.load().unwrap();
        let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).unwrap();
        let report = simulation.step(&JointCommand::default()).unwrap();
        (report.faces, simulation.data().V_WB[loaded.scene.free_bodies()[0]].v.z)
    };
    let (polygons, triangles) = (first_step("polygons"), first_step("triangles"));
    assert!(triangles.0 > 2 * polygons.0, "{polygons:?} {triangles:?}");
    assert!((triangles.1 - polygons.1).abs() < 0.05 * polygons.1.abs(), "{polygons:?} {triangles:?}");
}

/// A margin in the scene makes faces before contact.
#[test]
fn a_margin_of_a_scene_reaches_the_geometry() {
    let folder = Folder::new("margin_choice");
    folder.write("ell.obj", &obj(&ell()));
    let lowest = |margin: &str| {
        folder.robot(&[("ell", "ell.obj", &format!("{SOFT}{margin}"))]);
        let loaded = folder.load().unwrap();
        let bounds =
            loaded.scene.geometries().iter().last().unwrap().hydroelastic.world_aabb(&RigidTransform::identity());
        bounds.min.z
    };
    let (without, with) = (lowest(""), lowest("<drake:hydroelastic_margin value='0.002'/>"));
    // A cut corner of the filling moves along its diagonal.
    assert!((0.002 - 1e-9..0.004).contains(&(without - with)), "{without} {with}");
}

/// No field is left out silently: the first field with `pressure` in its name is used.
#[test]
fn fields_that_are_not_used_are_named() {
    let folder = Folder::new("vtk_fields");
    let (vertices, tets) = octahedron();
    let fields = [("a", vec![1.0; 7]), ("pressure", vec![2.0; 7]), ("pressure2", vec![3.0; 7])];
    folder.write("fields.vtk", &vtk(&vertices, &tets, &fields));
    let read = mesh_files::read(&folder.0.join("fields.vtk"), &Vector3::repeat(1.0)).unwrap();
    let mesh_files::MeshData::Volume { pressure, ignored, .. } = read else { panic!("a volume") };
    assert_eq!((pressure.unwrap()[0], ignored), (2.0, vec!["a".to_owned(), "pressure2".to_owned()]));
}

/// Two rigid meshes that overlap at the start, too deep for contact points, give a warning: they fall through
/// each other. Apart, or if they cross by 1 mm, they give none: contact parts them.
#[test]
fn rigid_meshes_that_start_too_deep_are_reported() {
    let folder = Folder::new("too_deep");
    folder.write("ell.obj", &obj(&ell()));
    let robot = |name: &str| {
        folder.robot(&[("ell", "ell.obj", RIGID)]);
        std::fs::rename(folder.0.join("robot.urdf"), folder.0.join(format!("{name}.urdf"))).unwrap();
    };
    robot("robot");
    // A corner lies 15 mm deep; a fifth of the radius is 14.5 mm.
    for (z, told) in [(0.015, true), (0.029, false), (0.04, false)] {
        folder.write(
            "scene.yaml",
            &format!(
                "models:\n  - {{ name: r, urdf: robot.urdf, weld: {{}} }}\n  - {{ name: s, urdf: robot.urdf, prefix: s_, free: {{ xyz: \
                 [0.02, 0.02, {z}] }} }}\n"
            ),
        );
        let loaded = folder.load().unwrap();
        let lost: Vec<&String> = loaded.warnings.iter().filter(|text| text.contains("too deep for contact")).collect();
        assert_eq!(!lost.is_empty(), told, "at {z}: {:?}", loaded.warnings);
        assert!(lost.iter().all(|text| text.contains("`body/ell`") && text.contains("`s_body/ell`")), "{lost:?}");
        let crossing = loaded.warnings.iter().filter(|text| text.contains("where no contact point is found")).count();
        assert_eq!(crossing, 0, "at {z}: {:?}", loaded.warnings);
    }
}

/// Links of one robot whose meshes cross without a contact point, because they are open or because the
/// points would lie too deep, pass through each other. Otherwise a contact appears far inside once they move,
/// and its force has no bound. Links that are apart keep their pair.
#[test]
fn links_whose_meshes_cross_pass_through_each_other() {
    let folder = Folder::new("crossing");
    let link = |name: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='1'/><inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/>\
             </inertial><collision><geometry><mesh filename='ell.obj'/></geometry></collision></link>"
        )
    };
    let joint = |child: &str, z: f64| {
        format!(
            "<joint name='to_{child}' type='continuous'><parent link='base'/><child link='{child}'/><origin xyz='{z} {z} {z}'/>\
             <axis xyz='0 0 1'/></joint>"
        )
    };
    let base = "<link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>";
    for (missing, z, is_left) in [(0, 0.02, false), (2, 0.02, false), (0, 0.5, true), (2, 0.5, true)] {
        let mut mesh = ell();
        mesh.triangles.truncate(mesh.triangles.len() - missing);
        folder.write("ell.obj", &obj(&mesh));
        let (links, joints) = (link("a") + &link("b"), joint("a", 0.0) + &joint("b", z));
        folder.write("robot.urdf", &format!("<robot name='r'>{base}{links}{joints}</robot>"));
        folder.write("scene.yaml", "models: [{ name: r, urdf: robot.urdf, weld: {} }]\n");
        let loaded = folder.load().unwrap();
        assert_eq!(loaded.scene.contact_pairs().len() == 1, is_left, "at {z}: {:?}", loaded.warnings);
        let named =
            loaded.warnings.iter().any(|text| text.contains("links `a` and `b`") && text.contains("pass through"));
        assert_eq!(named, !is_left, "at {z}: {:?}", loaded.warnings);
    }
}

/// The mass of an open mesh with a wrap is that of its wrap, here a box without its lid, over which the wrap
/// spans a membrane. Regression: the mesh was refused with the advice to wrap it. Bound: the wrap cuts edges
/// off by less than its distance, 2 mm on 10 cm twice, and half of that in height.
#[test]
fn an_open_mesh_with_a_wrap_has_the_mass_of_the_wrap() {
    let folder = Folder::new("wrap_mass");
    let mut tray = cuboid(Vector3::new(0.05, 0.05, 0.025));
    tray.triangles.retain(|triangle| triangle.iter().any(|vertex| tray.vertices[*vertex as usize].z < 0.0));
    folder.write("tray.obj", &obj(&tray));
    let scene = |wrap: &str| {
        folder.write(
            "scene.yaml",
            &format!("models: [{{ name: b, mesh: tray.obj, density: 1000, free: {{}}, material: {{ compliant: false{wrap} }} }}]\n"),
        );
        folder.load()
    };
    let message = scene("").unwrap_err().to_string();
    assert!(message.contains("the surface is open"), "{message}");
    let loaded = scene(", wrap: 0.002").unwrap();
    let model = loaded.scene.model();
    let mass = model.bodies()[model.body("b").unwrap()].inertia.mass;
    assert!((mass - 0.5).abs() < 0.5 * 0.06, "{mass}");
}

/// Copies of a mesh share one wrap. Regression: each was wrapped anew, which takes seconds.
#[test]
fn copies_share_a_wrap() {
    let folder = Folder::new("wrap_copies");
    folder.write("ell.obj", &obj(&ell()));
    let wrap = format!("{SOFT}<isobar:wrap value='0.004'/>");
    folder.robot(&[
        ("a", "ell.obj", &wrap),
        ("b", "ell.obj", &wrap),
        ("c", "ell.obj", &wrap.replace("0.004", "0.005")),
    ]);
    let loaded = folder.load().unwrap();
    let mesh = |name: &str| {
        let geometry = loaded.scene.geometries().iter().find(|geometry| geometry.name == format!("body/{name}"));
        match &geometry.unwrap().shape {
            Shape::Volume { mesh, .. } => mesh.clone(),
            other => panic!("a {}", other.kind()),
        }
    };
    assert!(std::sync::Arc::ptr_eq(&mesh("a"), &mesh("b")));
    assert!(!std::sync::Arc::ptr_eq(&mesh("a"), &mesh("c")));
}

/// Properties that have no effect on a geometry are named, and only there. Regression: they did nothing in
/// silence.
#[test]
fn properties_without_effect_are_named() {
    let folder = Folder::new("no_effect");
    folder.write("ell.obj", &obj(&ell()));
    folder.write("cube.obj", &obj(&cuboid(Vector3::repeat(0.02))));
    let (field, tolerance) =
        ("<isobar:pressure_field value='thickness'/>", "<isobar:surface_tolerance value='0.001'/>");
    let all = format!("{SOFT}{field}{tolerance}");
    let rigid = format!("{RIGID}{field}");
    folder.robot(&[("filled", "ell.obj", &all), ("convex", "cube.obj", &all), ("rigid", "ell.obj", &rigid)]);
    let loaded = folder.load().unwrap();
    let of = |name: &str| {
        let about = |text: &&String| text.starts_with(&format!("`body/{name}`")) && text.contains("has no effect");
        loaded.warnings.iter().filter(about).count()
    };
    assert_eq!((of("filled"), of("convex"), of("rigid")), (0, 2, 1), "{:?}", loaded.warnings);
    folder.write(
        "scene.yaml",
        "models: [{ name: b, box: [0.1, 0.1, 0.1], mass: 1, free: {}, material: { wrap: 0.001 } }]\n",
    );
    let warnings = folder.load().unwrap().warnings;
    assert!(warnings.iter().any(|text| text.contains("`wrap` has no effect")), "{warnings:?}");
}
