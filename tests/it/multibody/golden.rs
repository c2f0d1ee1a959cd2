//! Mass matrices, generalized forces and Jacobians of whole robots; see tests/golden/multibody/README.md.

use std::path::PathBuf;

use isobar::math::{Index, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3, Vector6};
use isobar::multibody::{
    Data, JointKind, JointSpec, Mimic, Model, ModelBuilder, State, bias, inverse_dynamics, jacobian, kinematics,
    mass_matrix,
};
use serde_json::Value;

use crate::golden::{difference, floats};

/// Both programs round at about 1e-16 of the largest entry in each of some hundred operations; 1e-9 allows
/// for cancellation in a few metres of lever arm, and detects mistakes.
const TOLERANCE: f64 = 1e-9;
/// The required files; the folder may contain more.
const ROBOTS: [&str; 4] = ["panda", "ur5", "kinova", "talos"];

fn folder() -> PathBuf {
    let oracle = std::env::var_os("ISOBAR_ORACLE").map(|folder| PathBuf::from(folder).join("multibody"));
    oracle
        .filter(|folder| folder.is_dir())
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/multibody"))
}

fn vector(value: &Value) -> Vector3 {
    Vector3::from_row_slice(&floats(value))
}

fn matrix(value: &Value) -> Matrix3 {
    Matrix3::from_row_slice(&floats(value))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn build(robot: &Value) -> Model {
    let mut builder = ModelBuilder::new();
    let mut names = vec!["world"];
    for body in robot["bodies"].as_array().unwrap() {
        let mass = body["mass"].as_f64().unwrap();
        names.push(text(&body["name"]));
        builder.add_body(
            text(&body["name"]),
            SpatialInertia::from_central(mass, &vector(&body["com"]), &matrix(&body["inertia"])),
        );
    }
    let index = |name: &Value| Index::from_usize(names.iter().position(|other| *other == text(name)).unwrap());
    for joint in robot["joints"].as_array().unwrap() {
        let kind = match text(&joint["kind"]) {
            "fixed" => JointKind::Fixed,
            "revolute" => JointKind::Revolute,
            "continuous" => JointKind::Continuous,
            "prismatic" => JointKind::Prismatic,
            "floating" => JointKind::Floating,
            other => panic!("no joint kind {other} in these files"),
        };
        let rotation = Rotation::from_matrix_unchecked(matrix(&joint["R"]));
        builder
            .add_joint(JointSpec {
                X_PF: RigidTransform::from_parts(vector(&joint["p"]).into(), rotation),
                axis_F: vector(&joint["axis"]),
                mimic: joint.get("mimic").map(|mimic| Mimic {
                    joint: text(&mimic["joint"]).to_owned(),
                    multiplier: mimic["multiplier"].as_f64().unwrap(),
                    offset: mimic["offset"].as_f64().unwrap(),
                }),
                ..JointSpec::new(text(&joint["name"]), index(&joint["parent"]), index(&joint["child"]), kind)
            })
            .unwrap();
    }
    builder.build(vector(&robot["gravity"])).unwrap()
}

/// The state of the file, and the model's degree of freedom for each one of the file.
fn read_state(model: &Model, case: &Value) -> (State, Vec<usize>) {
    let mut state = model.default_state();
    let mut dofs = Vec::new();
    if let Some(base) = case.get("base") {
        let joint = &model.joints()[model.joint("base_joint").unwrap()];
        let q = [floats(&base["quaternion_wxyz"]), floats(&base["position"])].concat();
        state.q[joint.q_start..joint.q_start + 7].copy_from_slice(&q);
        let v = [floats(&base["w"]), floats(&base["v"])].concat();
        state.v[joint.v_start..joint.v_start + 6].copy_from_slice(&v);
        dofs.extend(joint.v_start..joint.v_start + 6);
    }
    for name in case["dofs"].as_array().unwrap() {
        let joint = &model.joints()[model.joint(text(name)).unwrap()];
        state.q[joint.q_start] = case["q"][text(name)].as_f64().unwrap();
        state.v[joint.v_start] = case["v"][text(name)].as_f64().unwrap();
        dofs.push(joint.v_start);
    }
    assert_eq!(dofs.len(), model.nv());
    (state, dofs)
}

fn compare_frame(model: &Model, data: &Data, dofs: &[usize], frame: &Value) -> f64 {
    let body = model.body(text(&frame["body"])).unwrap();
    let X_WB = &data.X_WB[body];
    let mut columns = vec![Vector6::zeros(); model.nv()];
    jacobian::write_columns(model, data, body, &X_WB.translation.vector, &mut columns);
    let mut J = vec![Vector6::zeros(); model.nv()];
    for (column, dof) in columns.iter().zip(model.body_dofs(body)) {
        J[dof.to_usize()] = *column;
    }
    let rows = (0..6).flat_map(|row| dofs.iter().map(move |&dof| (row, dof)));
    let V = data.V_WB[body];
    [
        difference(rows.map(|(row, dof)| J[dof][row]), &floats(&frame["J"])),
        difference(X_WB.rotation.matrix().transpose().iter().copied(), &floats(&frame["R_WB"])),
        difference(X_WB.translation.vector.iter().copied(), &floats(&frame["p_WB"])),
        difference(V.w.iter().copied(), &floats(&frame["w_WB"])),
        difference(V.v.iter().copied(), &floats(&frame["v_WB"])),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}

fn compare_state(name: &str, model: &Model, data: &mut Data, case: &Value) {
    let (state, dofs) = read_state(model, case);
    let nv = model.nv();
    kinematics(model, &state, data);
    mass_matrix(model, data);
    bias(model, data);
    let in_order = |values: &[f64]| dofs.iter().map(|&dof| values[dof]).collect::<Vec<_>>();
    let pairs = dofs.iter().flat_map(|&i| dofs.iter().map(move |&j| (i, j)));
    let M = difference(pairs.map(|entry| data.M[entry]), &floats(&case["M"]));
    let coriolis = difference(in_order(&data.coriolis), &floats(&case["coriolis"]));
    let gravity_expected = floats(&case["gravity"]);
    let gravity = difference(in_order(&data.gravity), &gravity_expected);
    let mut rest = vec![0.0; nv];
    inverse_dynamics(model, data, &vec![0.0; nv], &mut rest);
    let nle: Vec<f64> = floats(&case["coriolis"]).iter().zip(&gravity_expected).map(|(c, g)| c - g).collect();
    let rnea = difference(in_order(&rest), &nle);
    let frames = case["frames"].as_array().unwrap().iter();
    let frames = frames.map(|frame| compare_frame(model, data, &dofs, frame)).fold(0.0, f64::max);
    println!("{name}: M {M:.1e}, coriolis {coriolis:.1e}, gravity {gravity:.1e}, rnea {rnea:.1e}, frames {frames:.1e}");
    for error in [M, coriolis, gravity, rnea, frames] {
        assert!(error < TOLERANCE, "{name}");
    }
}

/// Oracle: Pinocchio on the same robots, mimic joints reduced to their leaders.
#[test]
fn robots_match_the_independent_program() {
    let folder = folder();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    for path in &paths {
        let robot = path.file_stem().unwrap().to_string_lossy();
        let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let model = build(&file);
        model.check_mass().unwrap();
        let mut data = Data::new(&model);
        for (number, case) in file["states"].as_array().unwrap().iter().enumerate() {
            compare_state(&format!("{robot} {number}"), &model, &mut data, case);
        }
    }
    let missing = ROBOTS.map(|robot| folder.join(format!("{robot}.json"))).into_iter();
    let missing: Vec<_> = missing.filter(|path| !paths.contains(path)).collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
}
