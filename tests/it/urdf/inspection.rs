//! The report shows the robot and warns of likely mistakes.

use isobar::io::urdf::{LoadOptions, load_file};
use isobar::math::{Matrix3, RigidTransform};
use isobar::robot::inspect::report;
use isobar::robot::{Inertial, Limits};

use super::{golden, load, packages, robot};

#[test]
fn the_report_shows_the_robot() {
    let arm = load_file(&golden().join("arm.urdf"), &packages(), &LoadOptions::default()).unwrap();
    let report = report(&arm);
    let parts = [
        "links                 8",
        "joints                7 (6 movable, of which 1 mimic)",
        "degrees of freedom    13",
        "shoulder [revolute, axis (0 0 1), -1..2 rad, 3 rad/s, 5 rad/s2, 4 N m, damping 0.6 N m s/rad",
        "follows -2 * shoulder + 0.1",
        "upper / bubble: ellipsoid, semi-axes (0.1 0.2 0.3) m; compliant, modulus 10000 Pa",
        "upper_collision_5: convex mesh, 8 vertices, 12 triangles",
        "ends (switched off): tip, arm",
        "line 29: ",
    ];
    for part in parts {
        assert!(report.contains(part), "`{part}` is not in:\n{report}");
    }
}

/// Oracle: the poses by hand, of a forearm at the end of an upper arm that is turned by a quarter about z.
#[test]
fn frames_are_those_of_joints_at_zero() {
    let text = robot(
        "<link name='base'/><link name='upper'/><link name='fore'/>
<joint name='i' type='continuous'><parent link='base'/><child link='upper'/><origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/></joint>
<joint name='j' type='continuous'><parent link='upper'/><child link='fore'/><origin xyz='0.5 0 0'/></joint>",
    );
    let report = report(&load(&text).unwrap());
    for line in ["  base  (0 0 0)  (0 0 0)", "  upper  (0 0 1)  (0 0 1.570796)", "  fore  (0 0.5 1)  (0 0 1.570796)"] {
        assert!(report.lines().any(|found| found == line), "`{line}` is not in:\n{report}");
    }
}

/// One link of the given mass and moments on a joint with the given limits, with a ball of 0.1 m.
fn mistakes(mass: &str, moments: [&str; 3], limit: &str) -> String {
    let [ixx, iyy, izz] = moments;
    let text = robot(&format!(
        "<link name='base'/><link name='arm'><inertial><mass value='{mass}'/>
           <inertia ixx='{ixx}' ixy='0' ixz='0' iyy='{iyy}' iyz='0' izz='{izz}'/></inertial>
           <collision><geometry><sphere radius='0.1'/></geometry></collision></link>
         <joint name='j' type='revolute'><parent link='base'/><child link='arm'/><limit {limit}/></joint>"
    ));
    let report = report(&load(&text).unwrap());
    report.split_once("Likely mistakes\n").unwrap().1.to_owned()
}

const LIMIT: &str = "lower='-1' upper='1' effort='1' velocity='1'";

/// Links that are welded together are one body: massless frames on a link with mass are accepted, and so is a
/// point mass.
#[test]
fn welded_links_are_one_body() {
    let inertial = |mass: &str, i: &str| {
        format!(
            "<inertial><mass value='{mass}'/>
               <inertia ixx='{i}' ixy='0' ixz='0' iyy='{i}' iyz='0' izz='{i}'/></inertial>"
        )
    };
    let with = |tip: &str| {
        let text = robot(&format!(
            "<link name='base'/><link name='arm'>{}</link><link name='tip'>{tip}</link>
             <joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint>
             <joint name='w' type='fixed'><parent link='arm'/><child link='tip'/></joint>",
            inertial("1", "0.004")
        ));
        report(&load(&text).unwrap()).split_once("Likely mistakes\n").unwrap().1.to_owned()
    };
    assert_eq!(with(""), "  (nothing)\n");
    assert_eq!(with(&inertial("0.1", "0")), "  (nothing)\n");
    assert!(with(&inertial("0", "1")).contains("the mass is zero but the inertia"));
}

#[test]
fn likely_mistakes_are_named() {
    assert_eq!(mistakes("1", ["0.004", "0.004", "0.004"], LIMIT), "  (nothing)\n");
    // A URDF with such limits has none after loading; a program may state them.
    let mut reversed = load(&robot(
        "<link name='a'/><link name='b'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint>",
    ))
    .unwrap();
    reversed.joints[0].limits = Limits { lower: Some(1.0), upper: Some(-1.0), ..Limits::default() };
    reversed.links[1].inertial =
        Some(Inertial { mass: 1.0, inertia_I: Matrix3::identity(), X_BI: RigidTransform::identity() });
    let unreachable = report(&reversed).split_once("Likely mistakes\n").unwrap().1.to_owned();
    let cases = [
        (
            mistakes("0", ["0", "0", "0"], LIMIT),
            "link `arm` moves (joint `j`), and neither it nor a link welded to it has mass",
        ),
        (mistakes("1", ["0.004", "0.004", "-0.004"], LIMIT), "not positive definite"),
        (mistakes("1", ["0", "0", "0"], LIMIT), "not positive definite"),
        (mistakes("1", ["0.001", "0.001", "0.004"], LIMIT), "triangle inequality"),
        (mistakes("1", ["4", "4", "4"], LIMIT), "large for the mass"),
        (mistakes("1", ["1e-9", "1e-9", "1e-9"], LIMIT), "small for the mass"),
        (unreachable, "unreachable"),
        (mistakes("1", ["0.004", "0.004", "0.004"], "lower='0' upper='0' effort='1' velocity='1'"), "lock the joint"),
        (
            mistakes("1", ["0.004", "0.004", "0.004"], "lower='0' upper='1' effort='0' velocity='1'"),
            "effort limit is 0",
        ),
        (
            mistakes("1", ["0.004", "0.004", "0.004"], "lower='0' upper='1' effort='1' velocity='0'"),
            "velocity limit is 0",
        ),
    ];
    for (report, expected) in cases {
        assert!(report.contains(expected), "`{expected}` is not in:\n{report}");
        assert_eq!(report.lines().count(), 1, "one warning for one fault:\n{report}");
    }
}

/// The program: a report and 0, or the error on stderr and not 0.
#[test]
fn the_program_inspects() {
    let inspect = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        command.arg("inspect").current_dir(golden()).env_remove("AMENT_PREFIX_PATH").env_remove("ROS_PACKAGE_PATH");
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, report, errors) = inspect(&["arm.urdf", "--package", "toy=install/share/toy"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(report.starts_with("Robot `arm` from arm.urdf\n"), "{report}");
    let (code, report, errors) = inspect(&["arm.urdf"]);
    assert_eq!((code, report.as_str()), (Some(1), ""));
    assert!(errors.contains("arm.urdf:39: ") && errors.contains("AMENT_PREFIX_PATH"), "{errors}");
    let (code, report, _) = inspect(&["arm.urdf", "--skip-unreadable-meshes"]);
    assert!(code == Some(0) && report.contains("the collision geometry is left out"), "{report}");
    let (code, _, errors) = inspect(&["gone.urdf"]);
    assert!(code == Some(1) && errors.contains("because: "), "{errors}");
}

/// A reader that closes the pipe early, such as `| head`, is not an error; a full disk is one.
#[test]
#[cfg(target_os = "linux")]
fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
    let inspect_to = |stdout: std::process::Stdio| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isobar"));
        command.args(["inspect", "urdf/can.urdf"]).current_dir(env!("CARGO_MANIFEST_DIR")).stdout(stdout);
        let output = command.stderr(std::process::Stdio::piped()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(inspect_to(writer.into()), (Some(0), String::new()));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, errors) = inspect_to(full.into());
    assert!(code == Some(1) && errors.contains("No space left on device"), "{errors}");
}
