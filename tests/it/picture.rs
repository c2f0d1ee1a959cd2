//! The renderer: coverage, depth, projection, colours, contours, and reproducible pictures. Whole pictures
//! are compared by their contents (counts of colours), never by bytes. They are kept in the `tmp` folder of
//! the build.

use std::path::Path;

use isobar::geometry::{
    ContactSurface, FaceRepresentation, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape,
    SurfaceMesh, VolumeMesh, contact_surface, make,
};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{RigidTransform, Vector3};
use isobar::picture::{
    self, Camera, Canvas, Coat, ColorScale, ContactPanel, Gloss, Image, Paint, PictureError, Projection, ScenePicture,
    Solid, View, contour, encode_png, mesh_preview, scene_picture,
};
use isobar::stepping::{JointCommand, Simulation, Snapshot};

const WHITE: [f32; 3] = [1.0; 3];
const RED: [f32; 3] = [1.0, 0.0, 0.0];
const BLUE: [f32; 3] = [0.0, 0.0, 1.0];

/// A camera above the origin that shows 1 m x 1 m on a square picture, x to the right and y up.
fn above() -> Camera {
    Camera::look_at(
        &Vector3::new(0.0, 0.0, 5.0),
        &Vector3::zeros(),
        &Vector3::y(),
        Projection::Orthographic { height: 1.0 },
    )
}

fn canvas(camera: Camera) -> Canvas {
    Canvas::new(100, 100, camera, WHITE).expect("a canvas")
}

fn triangle(corners: [[f64; 3]; 3]) -> Solid {
    let vertices = corners.map(Vector3::from).to_vec();
    Solid::from_surface(&SurfaceMesh { vertices, triangles: vec![[0, 1, 2]] })
}

fn draw(canvas: &mut Canvas, solid: &Solid, color: [f32; 3], alpha: f32) {
    let paint = Paint { coat: Coat::Plain(color), alpha, gloss: Gloss::Flat };
    canvas.solid(solid, &RigidTransform::identity(), &paint).expect("drawn");
}

/// Sum over the picture of how far the green channel is from white: pixels covered by a red or blue surface.
fn covered(image: &Image) -> f64 {
    image.bytes().chunks_exact(3).map(|pixel| 1.0 - f64::from(pixel[1]) / 255.0).sum()
}

fn keep(image: &Image, name: &str) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    picture::write_png(image, &file).expect("written");
}

/// A triangle of area A covers A pixels. Rounding at its edges is at most a sample along the perimeter of
/// some 250 pixels, and mostly cancels. The bound, 1.5 pixels, is far below a missing row.
#[test]
fn a_triangle_covers_its_area() {
    let corners = [[-0.4, -0.35, 0.0], [0.42, -0.1, 0.0], [-0.1, 0.45, 0.3]];
    let mut canvas = canvas(above());
    draw(&mut canvas, &triangle(corners), RED, 1.0);
    let [a, b, c] = corners.map(|p| [100.0 * p[0], 100.0 * p[1]]);
    let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    let seen = covered(&canvas.finish());
    assert!((seen - area).abs() < 0.002 * 250.0 + 1.0, "{seen} pixels for {area}");
}

/// Two triangles that share an edge leave no gap and do not overlap: their pixels add up to those of the
/// square, for both windings.
#[test]
fn triangles_that_share_an_edge_share_no_sample() {
    // The diagonal runs through 240 sample centres.
    let (p, q, r, s) = ([-0.4, -0.4, 0.0], [0.4, -0.4, 0.0], [0.4, 0.4, 0.0], [-0.4, 0.4, 0.0]);
    let mut whole = canvas(above());
    draw(&mut whole, &triangle([p, q, r]), RED, 1.0);
    let one = covered(&whole.finish());
    let mut other = canvas(above());
    draw(&mut other, &triangle([p, s, r]), RED, 1.0);
    let two = covered(&other.finish());
    draw(&mut whole, &triangle([p, s, r]), RED, 1.0);
    let both = covered(&whole.finish());
    // Bytes round the shades of the diagonal's 80 pixels by half a step each.
    let rounding = 80.0 * 0.5 / 255.0;
    assert!((both - 6400.0).abs() <= rounding, "{both} pixels");
    assert!((one + two - both).abs() <= 2.0 * rounding, "{one} + {two} is not {both}");
}

/// The nearer surface wins in both orders; a transparent one is blended only where it is nearer.
#[test]
fn depth_decides_and_not_the_order() {
    let low = triangle([[-0.4, -0.4, 0.0], [0.4, -0.4, 0.0], [0.0, 0.4, 0.0]]);
    let high = triangle([[-0.4, -0.4, 0.5], [0.4, -0.4, 0.5], [0.0, 0.4, 0.5]]);
    let middle = |first: (&Solid, [f32; 3], f32), second: (&Solid, [f32; 3], f32)| {
        let mut canvas = canvas(above());
        draw(&mut canvas, first.0, first.1, first.2);
        draw(&mut canvas, second.0, second.1, second.2);
        canvas.finish().pixel(50, 55)
    };
    assert_eq!(middle((&low, RED, 1.0), (&high, BLUE, 1.0)), [0, 0, 255]);
    assert_eq!(middle((&high, BLUE, 1.0), (&low, RED, 1.0)), [0, 0, 255]);
    let mixed = middle((&low, RED, 1.0), (&high, BLUE, 0.5));
    assert_eq!(mixed, middle((&high, BLUE, 0.5), (&low, RED, 1.0)));
    assert_eq!(mixed, [128, 0, 128]);
    assert_eq!(middle((&low, BLUE, 0.5), (&high, RED, 1.0)), [255, 0, 0]);
}

/// The point d beside the middle at the depth z is d/(z tan(fov/2)) half heights from the centre; a pixel is
/// 2 z tan(fov/2) / height wide; a line of sight goes back through its own point.
#[test]
fn perspective_projects_by_similar_triangles() {
    let fov = 0.8;
    let camera =
        Camera::orbit(&Vector3::new(0.1, 0.2, 0.3), 0.7, 0.4, 2.0, Projection::Perspective { field_of_view: fov });
    let center = camera.view(&Vector3::new(0.1, 0.2, 0.3));
    assert!((center - Vector3::new(0.0, 0.0, 2.0)).norm() < 1e-14);
    let p_W = Vector3::new(0.3, -0.2, 0.9);
    let q = camera.view(&p_W);
    let point = camera.project(&q, 640.0, 480.0);
    assert!((point.x - (320.0 + 240.0 * q.x / (q.z * (0.5_f64 * fov).tan()))).abs() < 1e-9);
    assert!((point.y - (240.0 - 240.0 * q.y / (q.z * (0.5_f64 * fov).tan()))).abs() < 1e-9);
    let (start, direction) = camera.ray(point.x, point.y, 640.0, 480.0);
    assert!((p_W - start).cross(&direction).norm() < 1e-12);
    let wide = camera.project(&(q + Vector3::x() * camera.pixel_size(q.z, 480.0)), 640.0, 480.0);
    assert!((wide.x - point.x - 1.0).abs() < 1e-9);
    // The horizontal stays horizontal: z points up on the picture.
    assert!(camera.view_direction(&Vector3::z()).x.abs() < 1e-15 && camera.view_direction(&Vector3::z()).y > 0.0);
}

/// Objects that cannot be drawn are skipped without a panic; a triangle through the eye's plane is cut there.
#[test]
fn odd_geometry_is_survived() {
    let projection = Projection::Perspective { field_of_view: 0.8 };
    let camera = Camera::look_at(&Vector3::zeros(), &Vector3::x(), &Vector3::z(), projection);
    let mut canvas = canvas(camera);
    draw(&mut canvas, &Solid::default(), RED, 1.0);
    let behind = triangle([[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]);
    draw(&mut canvas, &behind, RED, 1.0);
    let mut broken = triangle([[2.0, -1.0, 0.0], [2.0, 1.0, 0.0], [2.0, 0.0, 1.0]]);
    broken.vertices[0].x = f64::NAN;
    draw(&mut canvas, &broken, RED, 1.0);
    draw(&mut canvas, &triangle([[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [4.0, 0.0, 0.0]]), RED, 1.0);
    canvas.line(&Vector3::new(-2.0, 0.0, 0.0), &Vector3::new(-1.0, 0.0, 0.0), 2.0, RED, 0.0);
    canvas.line(&Vector3::repeat(f64::NAN), &Vector3::x(), 2.0, RED, 0.0);
    assert_eq!(covered(&canvas.finish()), 0.0);
    draw(&mut canvas, &triangle([[-5.0, -1.0, -0.5], [50.0, -1.0, -0.5], [50.0, 40.0, -0.5]]), RED, 1.0);
    canvas.line(&Vector3::new(-2.0, 0.0, 0.1), &Vector3::new(9.0, 0.0, 0.1), 2.0, RED, 0.0);
    assert!(covered(&canvas.finish()) > 100.0);
    // Views without a direction.
    for (eye, up) in [(Vector3::zeros(), Vector3::z()), (Vector3::z(), Vector3::z()), (Vector3::y(), Vector3::zeros())]
    {
        let camera = Camera::look_at(&eye, &Vector3::zeros(), &up, projection);
        assert!((camera.view_direction(&Vector3::new(1.0, 2.0, 3.0)).norm() - 14.0_f64.sqrt()).abs() < 1e-12);
    }
}

#[test]
fn sizes_and_counts_are_checked() {
    for (width, height) in [(0, 100), (100, 4), (100_000, 100)] {
        let refused = Canvas::new(width, height, above(), WHITE);
        assert!(matches!(refused.err(), Some(PictureError::Size { .. })), "{width} x {height}");
    }
    let solid = triangle([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let scale = ColorScale { low: 0.0, high: 1.0 };
    let paint = Paint { coat: Coat::Values(&[1.0], scale), alpha: 1.0, gloss: Gloss::Flat };
    let refused = canvas(above()).solid(&solid, &RigidTransform::identity(), &paint);
    assert!(matches!(refused, Err(PictureError::ValueCount { values: 1, vertices: 3 })));
}

/// The scale starts dark blue, ends red, and keeps these colours beyond its ends; its end is the next round
/// number.
#[test]
fn the_colour_scale_ends_where_it_says() {
    let scale = ColorScale::from_zero([3.0, 21_300.0, f64::NAN].into_iter());
    assert_eq!((scale.low, scale.high), (0.0, 25_000.0));
    assert_eq!(scale.color(0.0), [0.10, 0.10, 0.45]);
    let last = scale.color(25_000.0);
    // Blending the last two colours rounds.
    assert!(last.iter().zip([0.85, 0.15, 0.10]).all(|(a, b)| (a - b).abs() < 1e-6), "{last:?}");
    assert_eq!(scale.color(-1.0), scale.color(0.0));
    assert_eq!(scale.color(1e9), scale.color(25_000.0));
    assert_eq!(scale.color(f64::NAN), scale.color(0.0));
    assert_eq!(ColorScale::from_zero(std::iter::empty()), ColorScale { low: 0.0, high: 1.0 });
    assert_eq!(ColorScale::from_zero([8.0].into_iter()).high, 8.0);
    assert_eq!(scale.levels(4), vec![5_000.0, 10_000.0, 15_000.0, 20_000.0]);
}

/// With the value x + 2 y on a square the line of the level 1.25 runs where x + 2 y = 1.25. Levels that the
/// values do not cross give no line.
#[test]
fn contour_lines_lie_at_their_level() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| Vector3::new(x, y, 0.3));
    let values = corners.map(|p| p.x + 2.0 * p.y);
    let mut lines = Vec::new();
    contour(&corners, &values, 1.25, &mut lines);
    contour(&corners, &values, 7.0, &mut lines);
    contour(&corners, &[1.0; 4], 1.0, &mut lines);
    contour(&[], &[], 1.0, &mut lines);
    assert_eq!(lines.len(), 1);
    for end in lines[0] {
        assert!((end.x + 2.0 * end.y - 1.25).abs() < 1e-15 && end.z == 0.3);
    }
    assert!((lines[0][0] - lines[0][1]).norm() > 0.5);
}

/// Solids bound their shapes: the signed volume by the divergence theorem is that of the shape up to the
/// error of chords, and the normals point out. Chords of 72 segments miss 0.13 % around a circle, those of 36
/// half meridians 0.25 % more.
#[test]
fn solids_have_the_volume_of_their_shape() {
    let pi = std::f64::consts::PI;
    for (shape, volume) in [
        (Shape::Sphere { radius: 0.5 }, pi / 6.0),
        (Shape::Ellipsoid { semi_axes: Vector3::new(1.0, 2.0, 0.5) }, 4.0 / 3.0 * pi),
        (Shape::Box { size: Vector3::new(1.0, 2.0, 3.0) }, 6.0),
        (Shape::Cylinder { radius: 0.5, length: 2.0 }, 0.5 * pi),
        (Shape::Capsule { radius: 0.5, length: 1.0 }, pi / 6.0 + 0.25 * pi),
    ] {
        let solid = Solid::from_shape(&shape).expect("a solid");
        let mut sum = 0.0;
        for triangle in &solid.triangles {
            let [a, b, c] = triangle.map(|vertex| solid.vertices[vertex as usize]);
            sum += a.dot(&b.cross(&c)) / 6.0;
            for vertex in triangle {
                let normal = solid.normals[*vertex as usize];
                assert!(normal.dot(&(b - a).cross(&(c - a))) > 0.0, "{}: a normal points in", shape.kind());
            }
        }
        assert!((sum / volume - 1.0).abs() < 4e-3, "{}: volume {sum} for {volume}", shape.kind());
    }
    assert!(Solid::from_shape(&Shape::HalfSpace).is_none());
    assert_eq!(Solid::cuboid(&Vector3::repeat(1.0)).creases.len(), 12);
}

fn ball_on_plate() -> [ContactSurface; 2] {
    let parameters = HydroelasticParameters {
        compliant: Some(1e5),
        resolution_hint: Some(0.02),
        slab_thickness: None,
        margin: 0.0,
        ..Default::default()
    };
    let ball = HydroelasticGeometry::new(&Shape::Sphere { radius: 0.05 }, &parameters).expect("a ball");
    let (X_WA, X_WB) = (RigidTransform::translation(0.0, 0.0, 0.04), RigidTransform::identity());
    let floor =
        HydroelasticGeometry::new(&Shape::Box { size: Vector3::new(0.2, 0.2, 0.04) }, &parameters).expect("a box");
    let X_WB = X_WB * RigidTransform::translation(0.0, 0.0, -0.02);
    [FaceRepresentation::Polygon, FaceRepresentation::TriangleFan].map(|representation| {
        let mut surface = ContactSurface::new();
        let mut workspace = HydroelasticWorkspace::new(representation);
        contact_surface(&ball, &X_WA, &floor, &X_WB, &mut workspace, &mut surface).expect("a surface");
        surface
    })
}

/// The picture of a contact surface: the same bytes twice, a PNG file, and as much coloured area in both
/// panels.
#[test]
fn a_contact_surface_is_drawn_the_same_each_time() {
    let surfaces = ball_on_plate();
    let panels =
        [("polygons", &surfaces[0]), ("fans", &surfaces[1])].map(|(title, surface)| ContactPanel { surface, title });
    let draw = || picture::contact_surface(&panels, "ball", "on a plate", (640, 400)).expect("a picture");
    let image = draw();
    let bytes = encode_png(&image).expect("encoded");
    assert_eq!(bytes, encode_png(&draw()).expect("encoded"));
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    keep(&image, "contact_surface.png");
    let colourful = |columns: std::ops::Range<usize>| {
        let vivid = |x, y| {
            let [r, g, b] = image.pixel(x, y);
            r.max(g).max(b) - r.min(g).min(b) > 60
        };
        columns.map(|x| (0..400).filter(|y| vivid(x, *y)).count()).sum::<usize>() as f64
    };
    let (left, right) = (colourful(0..270), colourful(270..540));
    // The fans have more dark edges.
    assert!(left > 8_000.0 && right > 0.6 * left && right < 1.02 * left, "{left} and {right} coloured pixels");
    let nothing = ContactSurface::new();
    let empty = [ContactPanel { surface: &nothing, title: "none" }];
    assert!(matches!(picture::contact_surface(&empty, "", "", (640, 400)), Err(PictureError::Empty { .. })));
}

/// The cut through an ellipsoid shows the pressure's peak in its middle and none at its rim; broken meshes
/// are refused.
#[test]
fn a_mesh_is_shown_cut_open() {
    let volume = make::ellipsoid(&Vector3::new(0.05, 0.03, 0.04), 0.012);
    let pressure: Vec<f64> =
        (0..volume.vertices.len()).map(|v| if v + 1 == volume.vertices.len() { 1e5 } else { 0.0 }).collect();
    let image = mesh_preview(&volume, &pressure, "ellipsoid", "5 x 3 x 4 cm", (960, 480)).expect("a picture");
    keep(&image, "mesh_preview.png");
    // The pressure falls linearly from the centre: above the share f of its peak is (1 - f)^2 of the cut. Red
    // passes blue where 0.25 + 0.73 s = 0.35 - 0.15 s between green and yellow, at f = 0.528. The edges,
    // which meet in the centre, darken some.
    let cut = (440..860).flat_map(|x| (60..440).map(move |y| (x, y))).map(|(x, y)| image.pixel(x, y));
    let cut: Vec<_> = cut.filter(|[r, g, b]| r.max(g).max(b) - r.min(g).min(b) > 60).collect();
    let high = cut.iter().filter(|[r, _, b]| r > b).count() as f64 / cut.len() as f64;
    assert!(cut.len() > 40_000 && (high - 0.472 * 0.472).abs() < 0.03, "{high} of {} pixels", cut.len());
    assert!(matches!(mesh_preview(&volume, &[], "", "", (960, 480)), Err(PictureError::ValueCount { .. })));
    let broken = VolumeMesh { vertices: vec![Vector3::zeros(); 4], tets: vec![[0, 1, 2, 9]] };
    assert!(matches!(mesh_preview(&broken, &[0.0; 4], "", "", (960, 480)), Err(PictureError::VertexIndex { .. })));
    let flat = VolumeMesh { vertices: vec![Vector3::zeros(); 4], tets: vec![[0, 1, 2, 3]] };
    assert!(mesh_preview(&flat, &[0.0; 4], "", "", (960, 480)).is_ok());
    assert!(mesh_preview(&VolumeMesh::default(), &[], "", "", (960, 480)).is_err());
}

fn spatula(steps: usize) -> (scene_file::LoadedScene, Snapshot) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/spatula_slip.yaml");
    let loaded = scene_file::load_with_visual_meshes(&path, &PackageMap::new()).expect("the scene loads");
    let mut simulation =
        Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("a simulation");
    let mut command = JointCommand::new(&loaded.scene);
    for _ in 0..steps {
        loaded.commands.fill(simulation.time_ns(), &mut command);
        simulation.step(&command).expect("a step");
    }
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    (loaded, snapshot)
}

/// The scene's picture shows the beech of the handle, the dark carriers, and pressure colours in the contact
/// view; without contact the contact view is an error.
#[test]
fn a_scene_shows_its_bodies_and_its_contact() {
    let (loaded, snapshot) = spatula(200);
    let draw = |contact: bool| {
        scene_picture(&ScenePicture {
            scene: &loaded.scene,
            snapshot: &snapshot,
            visuals: &loaded.visuals,
            view: View::default(),
            contact,
            size: (480, 360),
            title: "spatula",
        })
    };
    let (scene, contact) = (draw(false).expect("a picture"), draw(true).expect("a picture"));
    keep(&scene, "scene.png");
    keep(&contact, "scene_contact.png");
    let count = |image: &Image, test: &dyn Fn(i32, i32, i32) -> bool| {
        let pixels = image.bytes().chunks_exact(3);
        pixels.filter(|p| test(i32::from(p[0]), i32::from(p[1]), i32::from(p[2]))).count()
    };
    let beech = count(&scene, &|r, g, b| r > g + 25 && g > b + 20 && r > 110);
    let dark = count(&scene, &|r, g, b| r.max(g).max(b) < 60);
    // Pressure colours are vivid, and none is magenta as the arrows are.
    let vivid = |r: i32, g: i32, b: i32| r.max(g).max(b) - r.min(g).min(b) > 60 && !(r > g + 60 && b > g + 20);
    let patch = (60..370).flat_map(|x| (60..300).map(move |y| (x, y))).map(|(x, y)| contact.pixel(x, y));
    let patch = patch.filter(|[r, g, b]| vivid(i32::from(*r), i32::from(*g), i32::from(*b))).count();
    assert!(beech > 300 && dark > 3_000, "{beech} pixels of beech, {dark} dark ones");
    // A patch of 14.6 cm2 at 15.5 pixels a centimetre, turned by 0.62 and 0.34 rad, has 2,700 pixels; lines,
    // arrow and text hide some of them, and a part of the patch behind it is visible.
    assert!((1_800..4_000).contains(&patch), "{patch} pixels in pressure colours");
    let (loaded, snapshot) = spatula(0);
    let refused = scene_picture(&ScenePicture {
        scene: &loaded.scene,
        snapshot: &snapshot,
        visuals: &[],
        view: View::default(),
        contact: true,
        size: (480, 360),
        title: "",
    });
    assert!(matches!(refused, Err(PictureError::Empty { .. })));
}
