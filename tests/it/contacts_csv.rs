//! Recordings of contacts, and their charts.

use std::path::Path;
use std::process::Command;

use isobar::io::csv_file::ContactRecording;
use isobar::io::csv_file::table::{Column, parse_table};
use isobar::io::package::PackageMap;
use isobar::io::scene_file;
use isobar::stepping::{JointCommand, Snapshot};

/// Two blocks at rest, apart from each other: a compliant and a rigid one.
const SCENE: &str = "ground: {}
models:
  - { name: soft, box: [0.1, 0.1, 0.1], mass: 1, free: { xyz: [0, 0, 0.05] } }
  - { name: hard, box: [0.1, 0.1, 0.1], mass: 2, free: { xyz: [1, 0, 0.05] } }
materials:
  - { body: soft, hydroelastic_modulus: 1.0e6 }
  - { body: hard, compliant: false }
";

/// Law: the ground carries the weights of both blocks. The pressure m g/A below the soft one belongs to the
/// depth m g/A times half its edge over the modulus, as its field rises to the modulus in the middle.
#[test]
fn a_recording_of_contacts_has_force_and_penetration_of_each_pair() {
    let loaded = scene_file::load_str(SCENE, Path::new("scene.yaml"), &PackageMap::new()).expect("a scene");
    let mut simulation = loaded.simulation().expect("a simulation");
    let command = JointCommand::new(&loaded.scene);
    for _ in 0..1000 {
        simulation.step(&command).expect("a step");
    }
    let mut snapshot = Snapshot::default();
    simulation.snapshot_into(&mut snapshot);
    let deepest = snapshot.contact_patches().iter().map(|patch| patch.penetration).fold(0.0, f64::max);
    assert_eq!(simulation.penetration_max(), deepest);
    let mut bytes = Vec::new();
    let mut recording = ContactRecording::new(&mut bytes, "test", &loaded.scene).expect("a recording");
    recording.record(&snapshot).expect("rows");
    recording.finish().expect("a file");
    let table = parse_table(&bytes, Path::new("contacts.csv")).expect("a table");
    let numbers = |name: &str| table.column(name).and_then(Column::numbers).expect(name);
    let names = table.column("B").and_then(Column::texts).expect("names");
    let row = |body: &str| names.iter().position(|name| name.starts_with(body)).expect(body);
    let (soft, hard) = (row("soft"), row("hard"));
    assert_eq!(table.column("penetration").and_then(|column| column.unit.as_deref()), Some("m"));
    // The normal force is exact but for the solver's residual. Friction still holds some 1e-4 of the weight
    // against the springs of the faces that deformed while the soft block sank in.
    for (index, mass) in [(soft, 1.0), (hard, 2.0)] {
        let force = [numbers("fx")[index], numbers("fy")[index], numbers("fz")[index]];
        assert!(
            (force[2] / (mass * 9.81) - 1.0).abs() < 1e-4 && force[0].hypot(force[1]) < 1e-3 * mass * 9.81,
            "{force:?}"
        );
    }
    // The sides of the block slope inward by the depth, which changes the area by 2e-3 at most.
    let depth = 9.81 / 0.01 * 0.05 / 1.0e6;
    assert!(
        (numbers("penetration")[soft] / depth - 1.0).abs() < 5e-3,
        "{} and not {depth}",
        numbers("penetration")[soft]
    );
    assert!((numbers("area")[soft] / 0.01 - 1.0).abs() < 5e-3);
    // The errors of each pair are those of its patch in the snapshot
    for (index, patch) in snapshot.contact_patches().iter().enumerate() {
        for (name, value) in [
            ("cone_error", patch.friction.cone),
            ("alignment_error", patch.friction.alignment),
            ("net_cone_error", patch.net_friction.cone),
            ("net_alignment_error", patch.net_friction.alignment),
        ] {
            assert_eq!(numbers(name)[index], value, "{name}");
        }
        assert_eq!(patch.faces.friction.len(), patch.faces.force_B_W.len());
    }
    assert_eq!(table.column("net_alignment_error").and_then(|column| column.unit.as_deref()), Some("rad"));
    // Points are stiff: a block sinks by less than a micrometre.
    assert!((0.0..1e-6).contains(&numbers("penetration")[hard]), "{}", numbers("penetration")[hard]);
    assert_eq!(numbers("area")[hard], 0.0);
}

/// The depth is that of the end of the step in every mode and step, not that of the path without contact,
/// which is 16 mm after a step of 0.1 s. Law: the depth m g/A times half the height over the modulus. The
/// slope of the sides changes the area by 1e-4, and the free block settles to the tolerance of the solver.
#[test]
fn the_penetration_is_that_of_the_end_of_the_step() {
    let depth = 9.81 / 0.01 * 0.025 / 1.0e7;
    for (mode, step) in [("dynamic", 1e-3), ("dynamic", 1.0 / 60.0), ("dynamic", 0.1), ("spook", 1.0 / 60.0)] {
        let text = format!(
            "{{ stepping: {mode}, step: {step}, ground: {{}}, models: [{{ name: b, box: [0.1, 0.1, 0.05], mass: 1, \
             free: {{ xyz: [0, 0, 0.025] }} }}], materials: [{{ body: b, hydroelastic_modulus: 1.0e7 }}] }}"
        );
        let loaded = scene_file::load_str(&text, Path::new("scene.yaml"), &PackageMap::new()).expect("a scene");
        let mut simulation = loaded.simulation().expect("a simulation");
        let command = JointCommand::new(&loaded.scene);
        for _ in 0..(1.0 / f64::min(step, 0.01)) as usize {
            simulation.step(&command).expect("a step");
        }
        let mut snapshot = Snapshot::default();
        simulation.snapshot_into(&mut snapshot);
        let found = snapshot.contact_patches()[0].penetration;
        println!("{mode} {step} s: {found:.4e} m, {depth:.4e} m expected");
        assert!((found / depth - 1.0).abs() < 0.01, "{mode} {step} s: {found:.4e} m and not {depth:.4e} m");
    }
}

/// `isobar plot` draws both recordings of a run, with the names of the bodies.
#[test]
fn recordings_of_a_run_are_drawn() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contacts_csv");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("scene.yaml"), SCENE).expect("a scene");
    let isobar = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(arguments.split(' '))
            .current_dir(&folder)
            .output()
            .expect("the program");
        assert!(output.status.success(), "{arguments}\n{}", String::from_utf8_lossy(&output.stderr));
    };
    isobar("run scene.yaml --duration 0.05 --csv run.csv --contacts contacts.csv --quiet");
    isobar("plot run.csv");
    isobar("plot contacts.csv --out pairs.svg");
    isobar("plot run.csv --columns soft.z,hard.z --out heights.svg");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a chart");
    for (file, words) in [
        ("run.svg", ["soft", "contact forces"]),
        ("pairs.svg", ["penetration [m]", "hard"]),
        ("heights.svg", ["soft.z", "[m]"]),
    ] {
        let chart = text(file);
        assert!(chart.starts_with("<svg") && words.iter().all(|word| chart.contains(word)), "{file}");
    }
}

/// A scene that comes with the program is found from any folder, with a note that names it.
#[test]
fn shipped_scenes_are_found_from_other_folders() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elsewhere");
    std::fs::create_dir_all(&folder).expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["run", "config/drop.yaml", "--duration", "0.01", "--quiet"])
        .current_dir(&folder)
        .output()
        .expect("the program");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && words.contains("config/drop.yaml"), "{words}");
}
