//! Random sequences of everything that changes the standing command, against a simple model.

use super::*;

/// Controller, joints and remaining steps of a trajectory. Until it begins, also the earlier states of its
/// joints.
type Moving = (usize, Vec<usize>, u64, Option<Vec<Model>>);

/// The expected state of each joint, as a simple model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Model {
    Uncommanded,
    Target(JointTarget),
    /// To be held where it is at the next step.
    Held,
    /// Held at this position.
    Still(f64),
    /// Moved by the trajectory with this number.
    Moved(usize),
}

/// A position with which each step fails.
const IMPOSSIBLE: f64 = 7.0;
/// A position with which the third step fails, as under an effort that makes a joint faster and faster.
const GROWING: f64 = 8.0;

/// 100,000 random sequences of commands, trajectories, cancellations, timeouts, resets and failing steps.
/// Some commands come on the topics of one quantity, and some trajectories have stamps in the past. A
/// commanded joint keeps its target, whatever arrives for other joints. A trajectory begins where its joints
/// are. If it ends early, its joints are held where they are, or keep their earlier targets if it has not
/// begun.
///
/// If a failure names the joint, exactly its command is withdrawn, whatever its age. If it names none, all
/// commands since the last step are, or everything if the cause is older.
#[test]
fn a_joint_keeps_its_target_for_any_commands_to_others() {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    // Xorshift: the same sequences in every run.
    let mut below = |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    for sequence in 0..100_000 {
        let mut bench = Bench::new();
        bench.timeout_ns = below(3) * 5 * STEP_NS;
        let mut model = [Model::Uncommanded; JOINTS];
        let mut moving: Vec<Moving> = Vec::new();
        let mut quiet = [0; JOINTS];
        // Joints with new commands, and the number of steps that each was at GROWING.
        let (mut fresh, mut growing) = ([false; JOINTS], [0; JOINTS]);
        for _ in 0..12 {
            let controller = below(2) as usize;
            let named: Vec<usize> = (0..JOINTS).filter(|_| below(2) == 0).collect();
            let names: Vec<&str> = named.iter().map(|joint| NAMES[*joint]).collect();
            let goals: Vec<f64> = named.iter().map(|_| below(100) as f64 * 0.01).collect();
            let value = |goal: &f64| match below(12) {
                0 => IMPOSSIBLE,
                1 => GROWING,
                _ => *goal,
            };
            let values: Vec<f64> = goals.iter().map(value).collect();
            let mut end = |model: &mut [Model; JOINTS], ends: &dyn Fn(&Moving) -> bool| {
                for (number, trajectory) in moving.iter_mut().enumerate() {
                    if trajectory.2 > 0 && ends(trajectory) {
                        trajectory.2 = 0;
                        for (at, joint) in trajectory.1.iter().enumerate() {
                            if model[*joint] == Model::Moved(number) {
                                model[*joint] = trajectory.3.as_ref().map_or(Model::Held, |before| before[at]);
                            }
                        }
                    }
                }
            };
            let ended = |of: &Moving| of.0 == controller || of.1.iter().any(|joint| named.contains(joint));
            let operation = if named.is_empty() { 5 } else { below(10) };
            match operation {
                0 | 1 => {
                    end(&mut model, &ended);
                    let none = &[][..];
                    let values = if operation == 0 { &values } else { &goals };
                    let (position, velocity) = if operation == 0 { (&**values, none) } else { (none, &**values) };
                    bench.command(controller, &names, position, velocity);
                    for (joint, value) in named.iter().zip(values) {
                        let moves = JointTarget { velocity: Some(*value), ..JointTarget::default() };
                        model[*joint] = Model::Target(if operation == 0 { at(*value) } else { moves });
                        (quiet[*joint], fresh[*joint]) = (0, true);
                    }
                }
                // The topics of one quantity: the other quantities of a joint stay, unless it is held.
                6 | 7 => {
                    end(&mut model, &ended);
                    let mut joints = Vec::new();
                    for (joint, value) in named.iter().zip(if operation == 6 { &values } else { &goals }) {
                        let moves = JointTarget { velocity: Some(*value), ..JointTarget::default() };
                        let given = if operation == 6 { at(*value) } else { moves };
                        joints.push((ScalarJointIndex::from_usize(*joint), given));
                        let before = if let Model::Target(before) = model[*joint] { before } else { given };
                        model[*joint] = Model::Target(JointTarget {
                            position: given.position.or(before.position),
                            velocity: given.velocity.or(before.velocity),
                            effort: None,
                        });
                        (quiet[*joint], fresh[*joint]) = (0, true);
                    }
                    bench.standing.command(controller, &CheckedCommand { joints, whole: false, idle: None });
                }
                // Trajectories that begin now, or began up to their whole length ago.
                2 | 8 => {
                    end(&mut model, &ended);
                    let mut steps = 1 + below(5);
                    let late = if operation == 8 { below(steps + 1).min(bench.time_ns / STEP_NS) } else { 0 };
                    let start_ns = (operation == 8).then_some(bench.time_ns - late * STEP_NS);
                    bench.start_at(controller, &names, &goals, steps * STEP_NS, start_ns);
                    steps -= late;
                    let before = named.iter().map(|joint| model[*joint]).collect();
                    named.iter().for_each(|joint| model[*joint] = Model::Moved(moving.len()));
                    moving.push((controller, named, steps + 1, Some(before)));
                }
                3 => {
                    end(&mut model, &ended);
                    let cancelled: Vec<_> = named.iter().map(|joint| ScalarJointIndex::from_usize(*joint)).collect();
                    bench.standing.cancel(controller, &cancelled);
                    for joint in &named {
                        if matches!(model[*joint], Model::Target(JointTarget { velocity: Some(_), .. })) {
                            model[*joint] = Model::Held;
                        }
                    }
                }
                4 => {
                    moving.iter_mut().for_each(|trajectory| trajectory.2 = 0);
                    bench.standing.clear();
                    model = [Model::Uncommanded; JOINTS];
                }
                _ => {
                    let before = bench.position.clone();
                    let names_joints = below(2) == 0;
                    let fails = |joint: usize, target: &JointTarget, growing: &[u64; JOINTS]| {
                        target.position == Some(IMPOSSIBLE) || target.position == Some(GROWING) && growing[joint] >= 2
                    };
                    let targets = bench.step_unless(|targets| {
                        let failing: Vec<_> =
                            (0..JOINTS).filter(|joint| fails(*joint, &targets[*joint], &growing)).collect();
                        (!failing.is_empty()).then(|| if names_joints { failing } else { Vec::new() })
                    });
                    for (joint, expected) in model.iter_mut().enumerate() {
                        let abandoned = bench.timeout_ns > 0 && quiet[joint] * STEP_NS > bench.timeout_ns;
                        match expected {
                            Model::Held => *expected = Model::Still(before[joint]),
                            Model::Target(_) if abandoned => *expected = Model::Still(before[joint]),
                            Model::Moved(_) => quiet[joint] = 0,
                            _ => {}
                        }
                        quiet[joint] += 1;
                    }
                    let causes: Vec<usize> = (0..JOINTS)
                        .filter(|joint| matches!(&model[*joint], Model::Target(of) if fails(*joint, of, &growing)))
                        .collect();
                    // Also trajectories that begin or end in this step.
                    let is_new = |joint: usize| match model[joint] {
                        Model::Moved(number) => moving[number].3.is_some() || moving[number].2 == 1,
                        Model::Target(_) => fresh[joint],
                        _ => false,
                    };
                    let all_new = causes.iter().all(|joint| is_new(*joint));
                    let withdrawn: Vec<usize> = match (causes.is_empty(), names_joints) {
                        (true, _) => Vec::new(),
                        (false, true) => causes,
                        (false, false) => (0..JOINTS).filter(|joint| !all_new || is_new(*joint)).collect(),
                    };
                    for joint in withdrawn {
                        if let Model::Moved(number) = model[joint] {
                            moving[number].2 = 0;
                        }
                        if matches!(model[joint], Model::Moved(_) | Model::Target(_)) {
                            model[joint] = Model::Still(before[joint]);
                        }
                    }
                    fresh = [false; JOINTS];
                    for (count, target) in growing.iter_mut().zip(&targets) {
                        *count = if target.position == Some(GROWING) { *count + 1 } else { 0 };
                    }
                    for (number, trajectory) in moving.iter_mut().enumerate().filter(|(_, of)| of.2 > 0) {
                        trajectory.2 -= 1;
                        if trajectory.3.is_some() && trajectory.2 > 0 {
                            let begins = |joint: &usize| targets[*joint].position == Some(before[*joint]);
                            assert!(trajectory.1.iter().all(begins), "sequence {sequence}: it begins with a jump");
                        }
                        trajectory.3 = None;
                        for joint in trajectory.1.iter().filter(|_| trajectory.2 == 0) {
                            assert_eq!(model[*joint], Model::Moved(number));
                            model[*joint] = Model::Target(at(bench.position[*joint]));
                        }
                    }
                    for (joint, expected) in model.iter().enumerate() {
                        let target = targets[joint];
                        let holds = match expected {
                            Model::Uncommanded => target == JointTarget::default(),
                            Model::Target(wanted) => target == *wanted,
                            Model::Still(position) => target == at(*position),
                            Model::Moved(_) => target.velocity.is_some(),
                            Model::Held => false,
                        };
                        assert!(holds, "sequence {sequence}: {}: {target:?}, not {expected:?}", NAMES[joint]);
                    }
                }
            }
        }
    }
}
