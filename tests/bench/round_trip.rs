//! A controller in Rust that answers each state of tests/ros/scenes/press.yaml and measures how old the
//! command of each step is; `tests/bench/round_trip_controller.py` is the same in Python and explains it.
//! `tests/bench/ros_node.py round_trip` runs both. It calls r2r itself, as a user's controller would.
//!
//!     round_trip SECONDS

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use r2r::QosProfile;
use r2r::sensor_msgs::msg::JointState;

const JOINT: &str = "turn";
const STEP_NS: i64 = 1_000_000;
/// The effort for one step number [N m]: a power of two, so that it is exact.
const UNIT: f64 = 1.0 / (1_u64 << 30) as f64;
/// Discovery and the first second are not measured.
const WARM_UP: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: f64 = std::env::args().nth(1).ok_or("round_trip SECONDS")?.parse()?;
    let mut node = r2r::Node::create(r2r::Context::create()?, "round_trip", "")?;
    let publisher = node.create_publisher::<JointState>("joint_commands", QosProfile::default())?;
    let mut states = node.subscribe::<JointState>("joint_states", QosProfile::default())?;
    let mut command = JointState { name: vec![JOINT.to_owned()], effort: vec![0.0], ..JointState::default() };
    let (mut age, mut round_trip) = (BTreeMap::<i64, u64>::new(), Vec::new());
    let mut sent = BTreeMap::new();
    let (mut first, mut last, mut before, mut received, mut missed) = (None, -1, 0, 0_u64, 0);
    let give_up = Instant::now() + Duration::from_secs_f64(60.0 + seconds);
    let lasting = WARM_UP + Duration::from_secs_f64(seconds);
    while Instant::now() < give_up && first.is_none_or(|first: Instant| first.elapsed() < lasting) {
        node.spin_once(Duration::from_millis(100));
        while let Some(Some(state)) = states.next().now_or_never() {
            let now = Instant::now();
            let stamp = &state.header.stamp;
            let step = (i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec)) / STEP_NS;
            if step <= last {
                continue;
            }
            command.header.stamp = stamp.clone();
            command.effort[0] = step as f64 * UNIT;
            publisher.publish(&command)?;
            let joint = state.name.iter().position(|name| name == JOINT).ok_or("no such joint")?;
            let shown = (state.effort[joint] / UNIT).round() as i64;
            sent.insert(step, Instant::now());
            let began = sent.remove(&shown);
            if shown > 0 && first.is_none() {
                first = Some(now);
            }
            if first.is_some_and(|first| now - first > WARM_UP) {
                received += 1;
                missed += step - last - 1;
                *age.entry(step - shown).or_default() += 1;
                if let Some(began) = began.filter(|_| shown != before) {
                    round_trip.push((now - began).as_secs_f64() * 1e6);
                }
            }
            (last, before) = (step, shown);
        }
    }
    let age: BTreeMap<String, u64> = age.into_iter().map(|(steps, count)| (steps.to_string(), count)).collect();
    println!("{}", serde_json::json!({ "age": age, "round_trip": round_trip, "states": received, "missed": missed }));
    Ok(())
}
