//! Section V-A of [Pang & Tedrake 2021]: two fingers touch a sphere, squeeze it, pull down and slip; by the
//! complementarity problem (6), whose friction is Coulomb's, and by the convex program (10), whose sliding
//! bodies keep a gap. Three commands show why the paper abandons the complementarity problem (1), in which
//! fingers track their commands perfectly.

use crate::math::Vector3;
use crate::solvers::quasistatic::{
    ContactKey, LcpDiagnosis, QuasistaticError, QuasistaticProblem, QuasistaticSettings, QuasistaticSolver,
    diagnose_lcp, solve_lcp,
};

/// Step \[s\], stiffness [N/m], friction [-], weight \[N\] and radius \[m\] of the paper.
const STEP: f64 = 0.01;
const STIFFNESS: f64 = 1000.0;
const FRICTION: f64 = 0.5;
const WEIGHT: f64 = 10.0;
const RADIUS: f64 = 0.1;
/// Steps of the run.
const STEPS: u32 = 35;

/// The end of one step.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time \[s\].
    pub time: f64,
    /// Commanded (x_l, x_r, y) \[m\].
    pub command: [f64; 3],
    /// (x_c, y_c, x_l, x_r, y) \[m\].
    pub q: [f64; 5],
    /// Normal forces of left finger, right finger and ground \[N\].
    pub normal: [f64; 3],
    /// Mean of the two fingers' friction on the sphere, upwards \[N\]; the friction of each finger is not
    /// unique while both stick.
    pub friction: f64,
    /// Signed distance of the left finger \[m\].
    pub phi: f64,
}

/// Commanded (x_l, x_r, y) of the step that ends at `time`: inwards until 0.08 s, down until 0.23 s, at 0.2
/// m/s.
fn command(time: f64) -> [f64; 3] {
    let x = -0.106 + 0.2 * time.min(0.08);
    [x, -x, -0.2 * (time.min(0.23) - 0.08).max(0.0)]
}

/// Both runs: by the complementarity problem, and by the convex program.
///
/// # Errors
/// A step without a solution.
pub fn run() -> Result<[Vec<Sample>; 2], QuasistaticError> {
    let mut solver = QuasistaticSolver::default();
    let mut v = vec![0.0; 5];
    let convex = trajectory(|problem| {
        solver.solve(problem, &mut v, &QuasistaticSettings::default())?;
        Ok((v.clone(), solver.contact_impulses().to_vec()))
    })?;
    let complementarity = trajectory(|problem| {
        let solution = solve_lcp(problem, 2, &[])?;
        Ok((solution.v, solution.contacts))
    })?;
    Ok([complementarity, convex])
}

/// A command under which the complementarity problem with perfect tracking (1) is ill-posed [Pang & Tedrake
/// 2021, section III-B].
#[derive(Clone, Debug)]
pub struct IllPosed {
    /// The description of the command.
    pub name: &'static str,
    /// Commanded (x_l, x_r, y) \[m\].
    pub command: [f64; 3],
    /// The diagnosis of problem (1), which has no or many solutions.
    pub tracked: LcpDiagnosis,
    /// The diagnosis of problem (6), in which the fingers have impedances.
    pub with_impedances: LcpDiagnosis,
}

/// Three commands to fingers that just touch the sphere: both inwards, both standing still, and both upwards.
///
/// # Errors
/// A diagnosis that exceeds its limit.
pub fn ill_posed() -> Result<Vec<IllPosed>, QuasistaticError> {
    let q = [0.0, RADIUS, -RADIUS, RADIUS, 0.0];
    let commands = [
        ("squeeze by 10 mm each", [-0.09, 0.09, 0.0]),
        ("hold while touching", [-RADIUS, RADIUS, 0.0]),
        ("up by 2 mm, touching", [-RADIUS, RADIUS, 0.002]),
    ];
    let mut problem = QuasistaticProblem::default();
    let mut found = Vec::new();
    for (name, command) in commands {
        state(&mut problem, &q, &command);
        let tracking: Vec<(u32, f64)> = (2..5).map(|dof| (dof as u32, (command[dof - 2] - q[dof]) / STEP)).collect();
        let tracked = diagnose_lcp(&problem, 2, &tracking)?;
        let with_impedances = diagnose_lcp(&problem, 2, &[])?;
        found.push(IllPosed { name, command, tracked, with_impedances });
    }
    Ok(found)
}

fn trajectory(
    mut solve: impl FnMut(&mut QuasistaticProblem) -> Result<(Vec<f64>, Vec<Vector3>), QuasistaticError>,
) -> Result<Vec<Sample>, QuasistaticError> {
    let mut q = [0.0, RADIUS, -0.106, 0.106, 0.0];
    let mut problem = QuasistaticProblem::default();
    let mut samples = Vec::new();
    for step in 1..=STEPS {
        let time = STEP * f64::from(step);
        let command = command(time);
        state(&mut problem, &q, &command);
        let (v, impulses) = solve(&mut problem)?;
        q.iter_mut().zip(&v).for_each(|(q, v)| *q += STEP * v);
        samples.push(Sample {
            time,
            command,
            q,
            normal: std::array::from_fn(|i| impulses[i].x / STEP),
            friction: 0.5 * (impulses[0].y + impulses[1].y) / STEP,
            phi: q[0] - RADIUS - q[2],
        });
    }
    Ok(samples)
}

/// Sets `problem` to eq. 10 at `q`. Its contacts are left finger, right finger and ground, with t1 upwards at
/// the fingers and along x on the ground.
fn state(problem: &mut QuasistaticProblem, q: &[f64; 5], command: &[f64; 3]) {
    problem.reset(5, STEP);
    problem.linear[1] = -STEP * WEIGHT;
    for (i, target) in command.iter().enumerate() {
        let dof = i + 2;
        problem.quadratic[dof * 5 + dof] = STEP * STEP * STIFFNESS;
        problem.linear[dof] = STEP * STIFFNESS * (target - q[dof]);
    }
    let (n, t) = (Vector3::x(), Vector3::y());
    let key = |pair| ContactKey { pair, point: 0 };
    let gaps = [q[0] - RADIUS - q[2], q[3] - q[0] - RADIUS, q[1] - RADIUS].map(|phi| phi / STEP);
    problem.add_contact(key(0), gaps[0], FRICTION, [(0, n), (1, t), (2, -n), (4, -t)]);
    problem.add_contact(key(1), gaps[1], FRICTION, [(0, -n), (1, t), (3, n), (4, -t)]);
    problem.add_contact(key(2), gaps[2], FRICTION, [(0, t), (1, n)]);
}
