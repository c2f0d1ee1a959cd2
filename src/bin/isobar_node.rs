//! The ROS 2 node. `isobar_node --ros-args -p scene:=FILE.yaml`; docs/reference/ros.md lists topics, services
//! and parameters.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The arguments after --ros-args belong to ROS.
    let given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut words = given.take_while(|word| word != "--ros-args");
    match words.find(|word| matches!(word.as_str(), "-h" | "--help" | "-V" | "--version")).as_deref() {
        Some("-h" | "--help") => {
            print!("{}", isobar::ros::usage());
            return ExitCode::SUCCESS;
        }
        Some(_) => {
            println!("isobar_node {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        None => {}
    }
    isobar::ros::init_log(isobar::ros::NODE_NAME);
    let status = match isobar::ros::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", isobar::ros::with_causes(&error));
            ExitCode::FAILURE
        }
    };
    isobar::ros::finish_log();
    status
}
