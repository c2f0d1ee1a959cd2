//! The efforts of joints as functions of their positions and speeds: the laws of the dynamic step
//! ([`JointRows`](super::super::joint_rows::JointRows)) in the limit of a short step.

use super::super::input::StepStart;
use super::super::joint_rows::{RECOVERY_TIME, standing_target};
use crate::multibody::{Data, Joint};
use crate::scene::Scene;

/// A joint that passes its limit at the speed u is stopped with this time constant \[s\]. A dynamic step does
/// it within the step.
const LIMIT_TIME: f64 = 1e-4;
/// The depth beyond a limit at which its effort has set in fully \[rad\] or \[m\]: the effort is continuous.
const LIMIT_DEPTH: f64 = 1e-6;

/// Adds the efforts of springs, dampers, actuators, dry friction and limits to the generalized forces
/// `forces` [N m] or \[N\], and fills the `efforts` of the actuators. `data` has the mass matrix and the
/// weight.
///
/// With u the speed of a joint, x its depth beyond a limit and m its inertia:
///   actuator  clamp(K (q_cmd - q) + D (v_cmd - u) + tau_ff, +-limit)
///   friction  -tau_f clamp(u/v_s, +-1)
///   limit     m/T (u_x + x/T_r)+ min(x/x_0, 1),  against the motion u_x beyond it.
pub(super) fn add_efforts(
    scene: &Scene,
    start: &StepStart<'_>,
    stiction_tolerance: f64,
    (q, v, data): (&[f64], &[f64], &Data),
    forces: &mut [f64],
    efforts: &mut Vec<f64>,
) {
    let model = scene.model();
    efforts.clear();
    for ((force, damping), v) in forces.iter_mut().zip(model.dof_damping()).zip(v) {
        *force -= damping * v;
    }
    for (position, index) in scene.joints().iter().enumerate() {
        let joint = &model.joints()[*index];
        let (dof, ratio) = (joint.v_start, joint.mimic.as_ref().map_or(1.0, |mimic| mimic.multiplier));
        let (at, u) = (joint.position(q).unwrap_or(0.0), ratio * v[dof]);
        let actuator = &scene.actuators()[position];
        let initial = joint.position(&start.initial.q).unwrap_or(0.0);
        let target = standing_target(start.command.targets.as_slice().get(position), actuator, initial);
        let stiffness = if target.position.is_some() { actuator.stiffness } else { 0.0 };
        let tracks = target.position.is_some() || target.velocity.is_some();
        let damping = if tracks { actuator.damping } else { 0.0 };
        // The weight of a mimic joint is included in its leader's
        let carries = actuator.gravity_compensation && joint.mimic.is_none();
        let compensation = if carries { -data.gravity[dof] } else { 0.0 };
        let effort = stiffness * (target.position.unwrap_or(at) - at)
            + damping * (target.velocity.unwrap_or(0.0) - u)
            + target.effort.unwrap_or(0.0)
            + compensation;
        let effort = effort.clamp(-actuator.effort_limit, actuator.effort_limit);
        efforts.push(effort);
        let spring = joint.spring.stiffness * (joint.spring.reference - at);
        let friction = joint.friction * (u / stiction_tolerance).clamp(-1.0, 1.0);
        let limit = match ratio {
            0.0 => 0.0, // a mimic joint that does not move
            _ => limit_effort(joint, at, u, data.M.diagonal(dof) / (ratio * ratio)),
        };
        forces[dof] += ratio * (effort + spring - friction + limit);
    }
}

fn limit_effort(joint: &Joint, q: f64, u: f64, inertia: f64) -> f64 {
    let beyond = |depth: f64, speed: f64| {
        let rate = (speed + depth / RECOVERY_TIME).max(0.0);
        if depth > 0.0 { inertia / LIMIT_TIME * rate * (depth / LIMIT_DEPTH).min(1.0) } else { 0.0 }
    };
    beyond(joint.limits.lower - q, -u) - beyond(q - joint.limits.upper, u)
}
