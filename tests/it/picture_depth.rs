//! Depth is correct at any size and from any distance, and a moving picture shows its frames.

use std::path::Path;

use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::math::{RigidTransform, Vector3};
use isobar::picture::{
    Camera, Canvas, Coat, Gloss, Image, Labels, Paint, Projection, ScenePicture, Solid, View, encode_animation,
    scene_picture,
};
use isobar::stepping::{JointCommand, Simulation, Snapshot};

const FIELD_OF_VIEW: f64 = 0.6;
/// Half the edge of the block [m].
const HALF: f64 = 0.04;

/// A red block, `sunk` [m] into a green table as large as a hall, seen from a little above: corners of the
/// table lie behind the eye.
fn block_on_table((width, height): (usize, usize), camera: Camera, sunk: f64) -> Image {
    let mut canvas = Canvas::new(width, height, camera, [1.0; 3]).expect("a canvas");
    let paint = |color| Paint { coat: Coat::Plain(color), alpha: 1.0, gloss: Gloss::Flat };
    let table = Solid::cuboid(&Vector3::new(40.0, 40.0, 0.05));
    let block = Solid::cuboid(&Vector3::repeat(2.0 * HALF));
    canvas.solid(&table, &RigidTransform::translation(3.0, -2.0, -0.025), &paint([0.0, 1.0, 0.0])).expect("drawn");
    canvas.solid(&block, &RigidTransform::translation(0.0, 0.0, HALF - sunk), &paint([1.0, 0.0, 0.0])).expect("drawn");
    canvas.finish()
}

/// Area [px] of the convex hull on the picture of the corners of the block above the table, and its
/// perimeter: its outline, by Andrew's chain.
fn silhouette(camera: &Camera, (width, height): (usize, usize), sunk: f64) -> (f64, f64) {
    let mut points: Vec<[f64; 2]> = (0..8)
        .map(|k| {
            let side = |bit: usize| if k >> bit & 1 == 1 { HALF } else { -HALF };
            let up = if k >> 2 & 1 == 1 { 2.0 * HALF - sunk } else { 0.0 };
            let view = camera.view(&Vector3::new(side(0), side(1), up));
            let at = camera.project(&view, width as f64, height as f64);
            [at.x, at.y]
        })
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut hull: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while let [.., a, b] = hull[..]
                && (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) <= 0.0
            {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
        hull
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    let next = |i: usize| hull[(i + 1) % hull.len()];
    let area: f64 = hull.iter().enumerate().map(|(i, a)| 0.5 * (a[0] * next(i)[1] - a[1] * next(i)[0])).sum();
    let perimeter = hull.iter().enumerate().map(|(i, a)| (a[0] - next(i)[0]).hypot(a[1] - next(i)[1])).sum();
    (area.abs(), perimeter)
}

/// Law: a block that stands on a table, or is half sunk into it, hides as many pixels as the hull of the
/// projected corners of its part above the table has area, at any size of the picture and from any distance.
/// The table hides nothing of that part, and all of the rest. A pixel on the outline is a mix of both
/// colours, and samples on a grid of 3 x 3 round its share by 1/18 of a pixel in the mean: 0.06 of the
/// perimeter bounds the error.
#[test]
fn depth_holds_at_any_size_and_distance() {
    for distance in [0.4, 0.6, 6.0] {
        for size in [(320, 240), (640, 480), (1280, 960), (1920, 1440), (700, 100)] {
            let camera = Camera::orbit(
                &Vector3::new(0.0, 0.0, HALF),
                1.05,
                0.26,
                distance,
                Projection::Perspective { field_of_view: FIELD_OF_VIEW },
            );
            for sunk in [0.0, HALF] {
                let (area, perimeter) = silhouette(&camera, size, sunk);
                let image = block_on_table(size, camera, sunk);
                // The white of the background has as much blue as red.
                let red =
                    image.bytes().chunks_exact(3).map(|p| (f64::from(p[0]) - f64::from(p[2])) / 255.0).sum::<f64>();
                assert!(
                    (red - area).abs() < 0.06 * perimeter + 1.0,
                    "{size:?} from {distance} m, {sunk} m deep: {red} pixels of the block for {area}"
                );
            }
        }
    }
}

/// Frames of a moving picture, put together as the PNG specification says, are the frames that were given:
/// within half a step of the palette's cells, 1/128 of the range, where there are fewer colours than the
/// palette holds.
#[test]
fn a_moving_picture_shows_its_frames() {
    let (width, height) = (60, 40);
    let frames: Vec<Image> = (0..4)
        .map(|frame| {
            let mut image = Image::new(width, height, [0.9, 0.92, 0.95]);
            let left = 5.0 + 12.0 * f64::from(frame.min(2));
            image.fill([left, 10.0], [left + 9.0, 22.0], [0.8, 0.2, 0.1], 1.0);
            image
        })
        .collect();
    let bytes = encode_animation(&frames, 125).expect("encoded");
    assert_eq!(bytes, encode_animation(&frames, 125).expect("encoded"), "the same frames give the same bytes");
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a header");
    let control = reader.info().animation_control().copied().expect("an animation");
    assert_eq!((control.num_frames, control.num_plays), (4, 0));
    let mut shown = vec![0_u8; width * height * 3];
    for (number, frame) in frames.iter().enumerate() {
        let mut buffer = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut buffer).expect("a frame");
        let part = *reader.info().frame_control().expect("where the frame is");
        assert_eq!((part.delay_num, part.delay_den), (125, 1000));
        let (x, y, columns) = (part.x_offset as usize, part.y_offset as usize, part.width as usize);
        for (at, pixel) in buffer.chunks_exact(4).take(columns * part.height as usize).enumerate() {
            if pixel[3] > 0 {
                let to = 3 * ((y + at / columns) * width + x + at % columns);
                shown[to..to + 3].copy_from_slice(&pixel[..3]);
            }
        }
        let error = shown.iter().zip(frame.bytes()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(error <= Some(2), "frame {number} is off by {error:?} of 255");
        if number == 3 {
            assert_eq!((part.width, part.height), (1, 1), "nothing changes in the last frame");
        }
    }
    assert!(encode_animation(&[], 100).is_err());
    assert!(encode_animation(&[Image::new(20, 20, [0.0; 3]), Image::new(20, 30, [0.0; 3])], 100).is_err());
}

/// A block of foam that stands on the ground, seen with its contact patch: the patch lies in the plane of the
/// ground and is seen as a whole. Its 64 cm2 are the projected area of the cube's foot; lines, arrow and
/// label hide less than a fifth of it.
#[test]
fn a_patch_in_the_plane_of_the_ground_is_seen() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("urdf/cube.urdf");
    let text = format!(
        "ground: {{}}\nmodels:\n  - {{ name: foam, urdf: {}, free: {{ xyz: [0, 0, 0.04] }} }}\nmaterials: [{{ hydroelastic_modulus: 2.0e4 }}]\n",
        urdf.display()
    );
    let file = folder.join("foam.yaml");
    std::fs::write(&file, text).expect("written");
    let loaded = scene_file::load(&file, &PackageMap::new()).expect("the scene loads");
    let mut simulation = Simulation::new(loaded.scene.clone(), loaded.initial.clone(), loaded.settings).expect("runs");
    for _ in 0..100 {
        simulation.step(&JointCommand::default()).expect("a step");
    }
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let distance = 0.5;
    for size in [(480, 360), (1280, 960)] {
        let image = scene_picture(&ScenePicture {
            scene: &loaded.scene,
            snapshot: &snapshot,
            visuals: &[],
            view: View {
                direction: Some((0.6, 1.1)),
                distance: Some(distance),
                target_W: Some(Vector3::zeros()),
                labels: Labels::Hidden,
                ..View::default()
            },
            contact: true,
            size,
            title: "",
        })
        .expect("a picture");
        // The colours of the pressure scale are more vivid than glass, ground and text; the bar is at the
        // right edge.
        let vivid = |[r, g, b]: [u8; 3]| r.max(g).max(b) - r.min(g).min(b) > 100;
        let columns = 0..size.0 * 3 / 4;
        let seen = columns.flat_map(|x| (0..size.1).map(move |y| (x, y))).filter(|(x, y)| vivid(image.pixel(*x, *y)));
        let pixel = 2.0 * distance * (0.5 * FIELD_OF_VIEW).tan() / size.1 as f64;
        let whole = 4.0 * HALF * HALF * 1.1_f64.sin() / (pixel * pixel);
        let share = seen.count() as f64 / whole;
        assert!((0.8..1.1).contains(&share), "{size:?}: {share:.2} of the patch is seen");
    }
}
