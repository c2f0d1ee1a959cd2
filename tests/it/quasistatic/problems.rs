//! The problems of the reference files.

use isobar::math::Vector3;
use isobar::solvers::quasistatic::{ContactKey, QuasistaticProblem};
use serde_json::Value;

use crate::golden::numbers;

/// The entries of a sparse matrix {row, col, val}.
pub(crate) fn triplets(matrix: &Value) -> Vec<(usize, usize, f64)> {
    let index = |name: &str| -> Vec<usize> {
        matrix[name].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize).collect()
    };
    let (rows, columns, values) = (index("row"), index("col"), numbers(&matrix["val"]));
    rows.into_iter().zip(columns).zip(values).map(|((row, column), value)| (row, column, value)).collect()
}

/// Adds the contacts of a file: Jacobian rows n, t1, t2 of one contact after the other.
pub(crate) fn add_contacts(problem: &mut QuasistaticProblem, file: &Value, keys: &[ContactKey]) {
    let (phi, mu) = (numbers(&file["phi"]), numbers(&file["mu"]));
    let mut columns = vec![std::collections::BTreeMap::<u32, Vector3>::new(); phi.len()];
    for (row, column, value) in triplets(&file["Jc_normal_t1_t2"]) {
        columns[row / 3].entry(column as u32).or_insert_with(Vector3::zeros)[row % 3] = value;
    }
    for (i, columns) in columns.into_iter().enumerate() {
        problem.add_contact(keys[i], phi[i] / problem.step, mu[i], columns);
    }
}

/// A problem of the corpus with the inertia `mode`: qs, qd5 or qd.
pub(crate) fn corpus_problem(file: &Value, mode: &str) -> QuasistaticProblem {
    let n = file["n_v"].as_u64().unwrap() as usize;
    let mut problem = QuasistaticProblem::default();
    problem.reset(n, file["h"].as_f64().unwrap());
    for (i, value) in numbers(&file["P_a_diag"]).into_iter().enumerate() {
        problem.quadratic[i * n + i] = value;
    }
    let mass = match mode {
        "qs" => None,
        "qd5" => Some("M_u_scaled5"),
        "qd" => Some("M_u"),
        other => panic!("{other} is no inertia of the corpus"),
    };
    for (row, column, value) in mass.map(|name| triplets(&file[name])).unwrap_or_default() {
        problem.quadratic[row * n + column] += value;
    }
    for (b, c) in problem.linear.iter_mut().zip(numbers(&file["c"])) {
        *b = -c;
    }
    let count = file["n_c"].as_u64().unwrap() as u32;
    let keys: Vec<ContactKey> = (0..count).map(|point| ContactKey { pair: 0, point }).collect();
    add_contacts(&mut problem, file, &keys);
    problem
}

/// A step of a sequence; several points of one pair are distinguished by their order.
pub(crate) fn sequence_problem(step: &Value) -> QuasistaticProblem {
    let n = step["n_v"].as_u64().unwrap() as usize;
    let mut problem = QuasistaticProblem::default();
    problem.reset(n, step["h"].as_f64().unwrap());
    for (row, column, value) in triplets(&step["P"]) {
        problem.quadratic[row * n + column] = value;
    }
    problem.linear.copy_from_slice(&numbers(&step["b"]));
    let mut keys: Vec<ContactKey> = Vec::new();
    for pair in step["pairs"].as_array().unwrap() {
        let pair = numbers(pair);
        let pair = (pair[0] as u32) << 16 | pair[1] as u32;
        let point = keys.iter().filter(|key| key.pair == pair).count() as u32;
        keys.push(ContactKey { pair, point });
    }
    add_contacts(&mut problem, step, &keys);
    problem
}
