//! Drawing files: robots, triangles and lines are drawn where the camera's closed form puts them, and a
//! mistake in the file is named.

use std::path::PathBuf;
use std::process::{Command, Output};

use isobar::io::drawing_file;
use isobar::io::package::PackageMap;

const ROBOT: &str = "<robot name='r'><material name='green'><color rgba='0 1 0 1'/></material>\
     <link name='box'><visual><origin xyz='0 0 0.1'/><geometry><box size='0.1 0.1 0.1'/></geometry>\
     <material name='green'/></visual></link></robot>";

/// A camera at x = 2 m that looks at the origin: 200 x 100 pixels, 2 x 1 m there.
fn drawing(links: &str, colors: &str, line: &str) -> String {
    let field_of_view = 2.0 * 0.25_f64.atan();
    format!(
        "{{\"size\": [200, 100], \"background\": [0, 0, 0],\
         \"camera\": {{\"eye\": [2, 0, 0], \"target\": [0, 0, 0], \"field_of_view\": {field_of_view}}},\
         \"robots\": [{{\"urdf\": \"{ROBOT}\", \"alpha\": 1, \"links\": {{{links}}}}}],\
         \"surfaces\": [{{\"vertices\": [[0, 0.5, -0.3], [0, 0.7, -0.3], [0, 0.7, -0.1]],\
         \"color\": [1, 0, 0, 1]{colors}}}], \"lines\": [{line}]}}"
    )
}

const BOX: &str = "\"box\": {\"position\": [0, -0.5, 0], \"orientation\": [0, 0, 0.7071068, 0.7071068]}";
const LINE: &str = "{\"from\": [0, -0.9, -0.25], \"to\": [0, 0.3, -0.25], \"color\": [0, 0, 1]}";

fn file(name: &str, text: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    std::fs::write(&file, text).expect("written");
    file
}

fn draw(name: &str, text: &str) -> (Output, PathBuf) {
    let file = file(name, text);
    let out = file.with_extension("png");
    let output = Command::new(env!("CARGO_BIN_EXE_isobar")).arg("draw").arg(&file).arg("--out").arg(&out).output();
    (output.expect("the program runs"), out)
}

/// Columns, rows, and the pixels of an RGB picture.
pub(crate) fn pixels(file: &std::path::Path) -> (usize, Vec<[u8; 3]>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).expect("a picture")));
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut bytes).expect("a frame");
    let (pixels, _) = bytes[..info.buffer_size()].as_chunks::<3>();
    (info.width as usize, pixels.to_vec())
}

/// The middle and the number of the pixels in which one channel exceeds the others.
fn where_is(channel: usize, (width, pixels): &(usize, Vec<[u8; 3]>)) -> ([f64; 2], f64) {
    let mut sum = [0.0; 3];
    for (number, pixel) in pixels.iter().enumerate() {
        let most = (0..3).filter(|other| *other != channel).map(|other| pixel[other]).max().unwrap_or(0);
        if pixel[channel] > 60 && pixel[channel] > 2 * most {
            let at = [(number % width) as f64 + 0.5, (number / width) as f64 + 0.5, 1.0];
            (0..3).for_each(|i| sum[i] += at[i]);
        }
    }
    ([sum[0] / sum[2], sum[1] / sum[2]], sum[2])
}

/// A pixel is 10 mm wide at the origin. The camera looks along -x, so y points to the right.
#[test]
fn a_drawing_shows_robot_triangles_and_lines_at_their_places() {
    let (output, out) = draw("whole", &drawing(BOX, "", LINE));
    assert!(output.status.success(), "{output:?}");
    let picture = pixels(&out);
    let near = |found: [f64; 2], x: f64, y: f64, within: f64| {
        assert!((found[0] - x).abs() < within && (found[1] - y).abs() < within, "{found:?} for {x}, {y}");
    };
    // The box is 0.1 m above its link, at y = -0.5 m; its front is 50 mm nearer, so 2.6 % larger: 105 pixels.
    // Its side, at y = -0.45 m, is 45 (2/1.95 - 2/2.05) = 2.2 pixels wide, and its lower face 0.3 high.
    let (at, count) = where_is(1, &picture);
    near(at, 100.0 - 50.0 * 1.026, 50.0 - 10.0 * 1.026, 1.0);
    assert!((count - 131.0).abs() < 15.0, "{count}");
    // A third of the way from the right angle of the triangle to its other corners.
    let (at, count) = where_is(0, &picture);
    near(at, 100.0 + 50.0 + 20.0 * 2.0 / 3.0, 50.0 + 30.0 - 20.0 / 3.0, 1.0);
    assert!((count - 200.0).abs() < 25.0, "{count}");
    near(where_is(2, &picture).0, 100.0 - 30.0, 75.0, 1.5);
}

/// Colours of vertices are interpolated and not shaded: with one colour at all corners each inner pixel has
/// it.
#[test]
fn colours_of_vertices_are_drawn_as_they_are() {
    let colors = ", \"colors\": [[0.8, 0.2, 0.4], [0.8, 0.2, 0.4], [0.8, 0.2, 0.4]]";
    let (output, out) = draw("colors", &drawing("", colors, ""));
    assert!(output.status.success(), "{output:?}");
    let (_, pixels) = pixels(&out);
    let inner = pixels.iter().filter(|pixel| **pixel == [204, 51, 102]).count();
    assert!(inner > 150, "{inner}");
}

#[test]
fn mistakes_in_a_drawing_are_named() {
    let read = |name: &str, text: &str| {
        let mut error: &dyn std::error::Error =
            &drawing_file::read(&file(name, text), &PackageMap::new()).expect_err("a mistake");
        let mut text = error.to_string();
        while let Some(source) = error.source() {
            text += &format!(": {source}");
            error = source;
        }
        text
    };
    let good = drawing(BOX, "", LINE);
    let cases = [
        ("text", "not JSON", "expected"),
        ("key", &good.replace("\"background\"", "\"backround\""), "backround"),
        ("link", &good.replace("\"box\"", "\"bux\""), "no link `bux`"),
        ("quaternion", &good.replace("0.7071068]", "0.5]"), "link `box`: the quaternion has the length 0.86"),
        ("vertices", &good.replace("[0, 0.5, -0.3], ", ""), "surface 0 has 2 vertices"),
        ("urdf", &good.replace("<robot", "<rabot"), "robot 0"),
    ];
    for (name, text, part) in cases {
        let error = read(name, text);
        assert!(error.contains(part), "{name}: {error}");
    }
    let missing = drawing_file::read(&PathBuf::from("/nowhere/drawing.json"), &PackageMap::new());
    assert!(missing.expect_err("no file").to_string().contains("/nowhere/drawing.json"));
}
