//! Holes that are drawn as closed parts turned inside out: they are cut, or the surface keeps its right
//! inside.

use std::f64::consts::{FRAC_PI_4, TAU};

use isobar::geometry::fill::{FillSettings, fill};
use isobar::geometry::make::centroid;
use isobar::geometry::surface_check::check_surface;
use isobar::geometry::{MeshNote, SurfaceMesh};
use isobar::math::{Rotation, Vector3};

/// A prism of `n` sides about z between two heights [m], about (x, y) and turned by an angle. Its ends are
/// fans about their centre or about a corner.
pub(crate) fn round(radius: f64, z: [f64; 2], n: u32, at: [f64; 2], turn: f64, centered: bool) -> SurfaceMesh {
    let mut mesh = SurfaceMesh::default();
    for height in z {
        for i in 0..n {
            let angle = turn + TAU * f64::from(i) / f64::from(n);
            mesh.vertices.push(Vector3::new(at[0] + radius * angle.cos(), at[1] + radius * angle.sin(), height));
        }
    }
    for i in 0..n {
        let j = (i + 1) % n;
        mesh.triangles.extend([[i, j, j + n], [i, j + n, i + n]]);
        match centered {
            true => mesh.triangles.extend([[j, i, 2 * n], [i + n, j + n, 2 * n + 1]]),
            false if i >= 2 => mesh.triangles.extend([[0, i, i - 1], [n, n + i - 1, n + i]]),
            false => {}
        }
    }
    if centered {
        mesh.vertices.extend(z.map(|height| Vector3::new(at[0], at[1], height)));
    }
    mesh
}

/// The area of a regular polygon [m²].
pub(crate) fn polygon(radius: f64, n: u32) -> f64 {
    0.5 * f64::from(n) * radius * radius * (TAU / f64::from(n)).sin()
}

/// A square plate of 10 cm and 2 cm.
pub(crate) fn plate() -> SurfaceMesh {
    round(0.05 * 2.0_f64.sqrt(), [-0.01, 0.01], 4, [0.0, 0.0], FRAC_PI_4, false)
}

pub(crate) fn inside_out(mut mesh: SurfaceMesh) -> SurfaceMesh {
    mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    mesh
}

pub(crate) fn joined(mut a: SurfaceMesh, b: &SurfaceMesh) -> SurfaceMesh {
    let first = a.vertices.len() as u32;
    a.vertices.extend(&b.vertices);
    a.triangles.extend(b.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    a
}

fn moved(mut mesh: SurfaceMesh, to: impl Fn(&Vector3) -> Vector3) -> SurfaceMesh {
    mesh.vertices.iter_mut().for_each(|vertex| *vertex = to(vertex));
    mesh
}

fn single(mesh: SurfaceMesh) -> SurfaceMesh {
    moved(mesh, |vertex| vertex.map(|x| f64::from(x as f32)))
}

/// Bodies with holes, and their volumes [m³], which are not known in closed form for some.
fn bodies(n: u32, centered: bool) -> Vec<(&'static str, SurfaceMesh, Option<f64>)> {
    let bar = |z: [f64; 2], at: [f64; 2], turn: f64, radius: f64| round(radius, z, n, at, turn, centered);
    let tube = |hole: SurfaceMesh| joined(bar([-0.05, 0.05], [0.0, 0.0], 0.0, 0.03), &inside_out(hole));
    let drilled = |hole: SurfaceMesh| joined(plate(), &inside_out(hole));
    let (full, slab) = (0.1 * polygon(0.03, n), 0.1 * 0.1 * 0.02);
    let side = moved(bar([-0.06, 0.06], [0.0, 0.0], 0.1, 0.004), |v| Vector3::new(v.z, v.x, v.y));
    let tilt = Rotation::new(Vector3::new(0.0, 0.3, 0.0));
    let slanted = moved(bar([-0.05, 0.05], [0.0, 0.0], 0.1, 0.01), |v| tilt * v);
    let at = [0.003, 0.007];
    let two = joined(bar([-0.01, 0.01], [-0.02, 0.0], 0.1, 0.01), &bar([-0.01, 0.01], [0.02, 0.0], 0.0, 0.01));
    vec![
        ("tube", tube(bar([-0.05, 0.05], [0.0, 0.0], 0.0, 0.025)), Some(full - 0.1 * polygon(0.025, n))),
        ("tube off its axis", tube(bar([-0.05, 0.05], [0.0, 0.002], 0.3, 0.02)), Some(full - 0.1 * polygon(0.02, n))),
        (
            "tube, hole beyond it",
            tube(bar([-0.07, 0.09], [0.0, 0.0], 0.0, 0.025)),
            Some(full - 0.1 * polygon(0.025, n)),
        ),
        ("cup", tube(bar([-0.04, 0.05], [0.0, 0.0], 0.1, 0.025)), Some(full - 0.09 * polygon(0.025, n))),
        ("cup, hole beyond it", tube(bar([-0.05, 0.09], [0.0, 0.0], 0.1, 0.02)), Some(full - 0.1 * polygon(0.02, n))),
        ("hollow", tube(bar([-0.04, 0.04], [0.0, 0.0], 0.1, 0.025)), Some(full - 0.08 * polygon(0.025, n))),
        ("plate", drilled(bar([-0.01, 0.01], at, 0.1, 0.02)), Some(slab - 0.02 * polygon(0.02, n))),
        ("plate, hole far beyond it", drilled(bar([-0.1, 0.2], at, 0.1, 0.02)), Some(slab - 0.02 * polygon(0.02, n))),
        ("plate, blind hole", drilled(bar([0.0, 0.01], at, 0.1, 0.02)), Some(slab - 0.01 * polygon(0.02, n))),
        ("plate, hole along it", drilled(side.clone()), Some(slab - 0.1 * polygon(0.004, n))),
        ("plate, crossing holes", drilled(joined(side, &bar([-0.01, 0.01], at, 0.1, 0.02))), None),
        ("plate, two holes", drilled(two), Some(slab - 0.04 * polygon(0.01, n))),
        ("plate, slanted hole", drilled(slanted), Some(slab - 0.02 * polygon(0.01, n) / 0.3_f64.cos())),
    ]
}

/// The same file as drawn, rounded to single precision, drawn in millimetres, turned, inside out, and smaller
/// and larger.
fn variants(mesh: &SurfaceMesh) -> Vec<(&'static str, SurfaceMesh, f64)> {
    let millimetres = moved(single(moved(mesh.clone(), |v| v * 1e3)), |v| v * 1e-3);
    let turn = Rotation::new(Vector3::new(0.3, 0.5, 0.2));
    vec![
        ("as drawn", mesh.clone(), 1.0),
        ("single precision", single(mesh.clone()), 1.0),
        ("millimetres", millimetres, 1.0),
        ("turned", single(moved(mesh.clone(), |v| turn * v)), 1.0),
        ("inside out", inside_out(mesh.clone()), 1.0),
        ("ten times", moved(mesh.clone(), |v| v * 10.0), 1e3),
        ("a thousandth", moved(mesh.clone(), |v| v * 1e-3), 1e-9),
    ]
}

/// Every hole is cut: the surface is simple, and its volume is that of the closed form. Where rounding
/// prevents the cut, which is said, the inside is right all the same. Regression: a tube kept its lids, and a
/// file that is inside out had up to twice its volume.
#[test]
fn holes_are_cut_in_every_file() {
    let (mut count, mut uncut) = (0, 0);
    for (n, centered) in [(8, true), (9, false), (16, false), (24, true)] {
        for (name, mesh, volume) in bodies(n, centered) {
            for (variant, mesh, factor) in variants(&mesh) {
                let name = format!("{name}, {n} sides, {variant}");
                let checked = check_surface(&mesh).unwrap();
                let report = &checked.report;
                count += 1;
                if report.uncut > 0 {
                    assert!(report.repairs().unwrap().contains("keep their lids"), "{name}");
                    uncut += 1;
                } else {
                    assert!(checked.is_simple, "{name}: {report:?}");
                }
                assert_eq!(report.doubtful, 0, "{name}");
                let found = checked.second_moments().0;
                let error = volume.map_or(0.0, |volume| found / (factor * volume) - 1.0);
                let bound = if report.uncut > 0 { 0.02 } else { 1e-5 };
                assert!(error.abs() < bound, "{name}: {error}");
                let own = centroid(&checked.mesh).0;
                assert!(report.uncut > 0 || (own / found - 1.0).abs() < 1e-9, "{name}");
            }
        }
    }
    assert!(count >= 300 && uncut <= count / 20, "{uncut} of {count} are not cut");
}

/// Drilled bodies are filled to within 1 %, or a note has the loss and a hint that suffices; wraps leave the
/// holes open. Regression: tubes were refused, their wraps were solid, and losses below 15 % were silent.
#[test]
fn drilled_bodies_are_filled_and_wrapped() {
    for (name, mesh, volume) in bodies(16, true) {
        let Some(volume) = volume else { continue };
        let filling = fill(&mesh, &FillSettings::default()).unwrap();
        let error = filling.quality.volume / volume - 1.0;
        let notes: Vec<MeshNote> = filling.notes().collect();
        match notes.as_slice() {
            [] => assert!(error.abs() < 0.0101, "{name}: {error}"),
            [MeshNote::Volume { error: noted, hint: Some(hint), .. }] => {
                assert!((noted - error).abs() < 1e-3, "{name}: {error} {noted}");
                let settings = FillSettings { resolution_hint: Some(*hint), ..FillSettings::default() };
                let finer = fill(&mesh, &settings).unwrap();
                assert!((finer.quality.volume / volume - 1.0).abs() < 0.01, "{name}: {:?}", finer.quality);
                assert_eq!(finer.notes().count(), 0, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
        if ["tube", "plate, hole far beyond it", "plate, slanted hole"].contains(&name) {
            let settings = FillSettings { wrap: Some(1e-3), resolution_hint: Some(4e-3), ..FillSettings::default() };
            let wrap = fill(&mesh, &settings).unwrap();
            let error = wrap.quality.volume / volume - 1.0;
            assert!(error.abs() < 0.08, "{name}: {:?}", wrap.quality);
            let says = wrap.notes().any(|note| matches!(note, MeshNote::Closed { .. }));
            assert!(says == (error.abs() > 0.02), "{name}: {error}");
        }
    }
}

/// A tube with a hint as long as its wall is thick loses volume through slits: the note has the loss and a
/// hint that suffices. Regression: 13.5 % were lost in silence.
#[test]
fn lost_volume_is_noted_with_a_hint() {
    let mesh = joined(
        round(0.03, [-0.05, 0.05], 64, [0.0, 0.0], 0.0, true),
        &inside_out(round(0.026, [-0.05, 0.05], 64, [0.0, 0.0], 0.0, true)),
    );
    let with =
        |hint: f64| fill(&mesh, &FillSettings { resolution_hint: Some(hint), ..FillSettings::default() }).unwrap();
    let coarse = with(4e-3);
    let Some(MeshNote::Volume { error, hint: Some(hint), .. }) =
        coarse.notes().find(|note| matches!(note, MeshNote::Volume { .. }))
    else {
        panic!("{:?}", coarse.quality)
    };
    assert!(error < -0.01 && hint < 4e-3, "{error} {hint}");
    assert!(with(hint).notes().next().is_none());
}

/// Where the parts of a mesh are closed, a wrap that has another volume says so: here a box of which the wrap
/// makes a plate that is thicker.
#[test]
fn a_wrap_that_adds_volume_says_so() {
    let thin = round(0.05, [-2e-4, 2e-4], 4, [0.0, 0.0], 0.0, false);
    let wrap = fill(&thin, &FillSettings { wrap: Some(2e-3), ..FillSettings::default() }).unwrap();
    let note = wrap.notes().find(|note| matches!(note, MeshNote::Closed { .. })).unwrap().to_string();
    assert!(note.contains("more volume than the closed parts") && note.contains("holes or cavities"), "{note}");
}

/// A peg that was turned by mistake and ends in a plate is no hole: it is a body, and that is said.
#[test]
fn a_part_that_ends_in_another_is_a_body() {
    let peg = round(0.01, [0.0, 0.05], 16, [0.003, 0.007], 0.1, true);
    for mesh in [joined(plate(), &inside_out(peg.clone())), joined(inside_out(plate()), &peg)] {
        let checked = check_surface(&mesh).unwrap();
        assert_eq!((checked.report.holes, checked.report.doubtful), (0, 1), "{:?}", checked.report);
        assert!(checked.report.repairs().unwrap().contains("taken as bodies"));
        let volume = 0.1 * 0.1 * 0.02 + 0.04 * polygon(0.01, 16);
        assert!((checked.second_moments().0 / volume - 1.0).abs() < 0.01);
    }
}

/// A piston in the bore of a plate, with clearance, is a body, also in a file that is inside out.
#[test]
fn a_part_in_a_drilled_hole_stays() {
    let drill = inside_out(round(0.02, [-0.015, 0.015], 24, [0.0, 0.0], 0.0, true));
    let piston = round(0.015, [-0.005, 0.005], 24, [0.0, 0.0], 0.0, true);
    let drilled = joined(joined(plate(), &drill), &piston);
    let volume = (0.1 * 0.1 - polygon(0.02, 24)) * 0.02 + 0.01 * polygon(0.015, 24);
    for mesh in [drilled.clone(), inside_out(drilled)] {
        let checked = check_surface(&mesh).unwrap();
        assert_eq!((checked.report.holes, checked.report.buried), (1, 0), "{:?}", checked.report);
        let found = checked.second_moments().0;
        assert!((found / volume - 1.0).abs() < 1e-6, "{found} and not {volume} m3");
    }
}

/// A plate that was turned by mistake, with a bolt through it, beside a body that is right: the bolt is no
/// hole.
#[test]
fn bodies_beside_tell_that_a_file_is_not_inside_out() {
    let bolt = round(0.01, [-0.03, 0.03], 16, [0.003, 0.007], 0.1, true);
    let beside = moved(plate(), |p| p + Vector3::x() * 0.2);
    let checked = check_surface(&joined(joined(inside_out(plate()), &bolt), &beside)).unwrap();
    assert_eq!((checked.report.holes, checked.report.doubtful), (0, 1), "{:?}", checked.report);
    let volume = 2.0 * 0.1 * 0.1 * 0.02 + 0.04 * polygon(0.01, 16);
    assert!((checked.second_moments().0 / volume - 1.0).abs() < 0.01);
}

/// A long drill takes away the part of a pin in it that lies outside the plate, and that is said. A drill in
/// which a pin begins that is longer is not taken as a hole, which is said, too.
#[test]
fn a_pin_in_the_free_end_of_a_hole_is_named() {
    let drill = inside_out(round(0.01, [-0.1, 0.1], 24, [0.0, 0.0], 0.0, true));
    let report = |z: [f64; 2]| {
        let pin = round(0.007, z, 24, [0.0, 0.0], 0.0, true);
        check_surface(&joined(joined(plate(), &drill), &pin)).unwrap().report
    };
    for (z, lost) in [([-0.05, 0.05], 1), ([0.03, 0.05], 1), ([-0.005, 0.005], 0)] {
        let report = report(z);
        assert_eq!((report.holes, report.lost), (1, lost), "{z:?}");
        assert_eq!(report.repairs().unwrap().contains("lose what lies outside"), lost > 0, "{z:?}");
    }
}

/// A pin that is longer than its drill leaves plate and drill what they are: what lies outside the drill
/// stays of it, and what lies in the plate. The file was read as inside out if the pin sticks out of both
/// ends, and plate and pin were cut from the drill (2.0e-4 became 3e-7 m³).
#[test]
fn pins_that_are_longer_than_their_drill_keep_the_plate() {
    let plate_volume = check_surface(&plate()).unwrap().second_moments().0;
    let area = |radius: f64| 12.0 * radius * radius * (std::f64::consts::TAU / 24.0).sin();
    for turned in [false, true] {
        for (z, outside) in [([-0.15, 0.15], 0.1), ([-0.005, 0.15], 0.05), ([0.05, 0.15], 0.05)] {
            let drill = inside_out(round(0.01, [-0.1, 0.1], 24, [0.0, 0.0], 0.0, true));
            let pin = round(0.007, z, 24, [0.0, 0.0], 0.0, true);
            let all = joined(joined(plate(), &drill), &pin);
            let checked = check_surface(&if turned { inside_out(all) } else { all }).unwrap();
            let volume = checked.second_moments().0;
            println!("{z:?} {turned}: {volume} of {plate_volume}, {:?}", checked.report.repairs());
            assert_eq!(checked.report.holes, 1, "{z:?}, {turned}");
            let least = plate_volume - area(0.01) * 0.02 + area(0.007) * outside;
            let most = least + area(0.007) * 0.02;
            assert!(volume > 0.999 * least && volume < 1.001 * most, "{z:?}, {turned}: {volume}, {least} to {most}");
        }
    }
}
