//! The ROS 2 node. `isobar_node --ros-args -p scene:=FILE.yaml`; docs/reference/ros.md lists topics, services
//! and parameters.

use std::process::ExitCode;

fn main() -> ExitCode {
    isobar::ros::init_log();
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
