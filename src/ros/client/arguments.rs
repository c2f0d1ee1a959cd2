//! Checks of the command line before the client library reads it, which panics at arguments that it refuses.

use std::ffi::OsString;

use super::error::ClientError;

use crate::ros::log::names::{did_you_mean, nearest};

/// The rule of a part of a name.
const PART: &str = "each part of it must consist of ASCII letters, digits and _, and not begin with a digit";

/// Checks the command line of the node, whose parameters have these names.
///
/// # Errors
/// The first argument that the client library refuses, or that nothing would read.
pub(crate) fn check_command_line<'a>(
    arguments: impl Iterator<Item = OsString> + Clone,
    parameters: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), ClientError> {
    check(arguments.clone())?;
    check_known(arguments.map(|argument| argument.to_string_lossy().into_owned()), parameters)
}

/// Checks the encoding of `arguments`, and the rules for names among them.
///
/// # Errors
/// The first argument that the client library refuses, and the rule.
pub(super) fn check(arguments: impl Iterator<Item = OsString>) -> Result<(), ClientError> {
    let (mut of_ros, mut expected) = (false, false);
    for argument in arguments {
        let refused = |rule: String| {
            let shown = argument.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            ClientError::Argument { argument: shown, rule }
        };
        let Some(text) = argument.to_str() else { return Err(refused("it is not text in UTF-8".to_owned())) };
        match text {
            "--ros-args" => of_ros = true,
            "--" => of_ros = false,
            "-r" | "--remap" if of_ros => {
                expected = true;
                continue;
            }
            rule if of_ros && expected => check_rule(rule).map_err(refused)?,
            _ => {}
        }
        expected = false;
    }
    Ok(())
}

/// The options of the node itself.
const OPTIONS: [&str; 3] = ["--help", "--version", "--ros-args"];
/// The options after `--ros-args` that have a value.
const ROS_VALUES: [&str; 9] =
    ["-p", "--param", "-r", "--remap", "--params-file", "-e", "--enclave", "--log-level", "--log-config-file"];
/// Those without one, which begin with `--enable-` or `--disable-`.
const ROS_SWITCHES: [&str; 3] = ["rosout-logs", "stdout-logs", "external-lib-logs"];
/// The name of the log file, an option of newer versions of ROS.
const LOG_FILE_NAME: &str = "--log-file-name";

/// Checks that each of `arguments`, the first of which is the program, is an option of the node or of ROS.
/// `parameters` are the names of the parameters.
///
/// # Errors
/// The first argument that nothing would read, and how it is meant, as far as that can be seen.
fn check_known<'a>(
    arguments: impl Iterator<Item = String>,
    parameters: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), ClientError> {
    let (mut of_ros, mut has_value) = (false, false);
    for argument in arguments.skip(1) {
        let is_value = std::mem::take(&mut has_value);
        match argument.as_str() {
            _ if is_value => continue,
            "--ros-args" => of_ros = true,
            "--" if of_ros => of_ros = false,
            known if of_ros && (ROS_VALUES.contains(&known) || known == LOG_FILE_NAME) => has_value = true,
            switch if of_ros && is_switch(switch) => {}
            "-h" | "-V" if !of_ros => {}
            known if !of_ros && OPTIONS.contains(&known) => {}
            unknown => {
                let rule = if of_ros { hint_of_ros(unknown) } else { hint(unknown, parameters.clone()) };
                let shown = unknown.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
                return Err(ClientError::Argument { argument: shown, rule });
            }
        }
    }
    Ok(())
}

fn is_switch(argument: &str) -> bool {
    let name = argument.strip_prefix("--enable-").or(argument.strip_prefix("--disable-"));
    name.is_some_and(|name| ROS_SWITCHES.contains(&name))
}

/// How an unknown argument before `--ros-args` is meant.
fn hint<'a>(argument: &str, parameters: impl Iterator<Item = &'a str> + Clone) -> String {
    let is_of_ros = ROS_VALUES.contains(&argument) || argument == LOG_FILE_NAME || is_switch(argument);
    if is_of_ros {
        return "it belongs to the options of ROS: write --ros-args before it".to_owned();
    }
    let (name, value) = argument.split_once(":=").or(argument.split_once('=')).unwrap_or((argument, "VALUE"));
    let name = name.trim_start_matches('-').replace('-', "_");
    if parameters.clone().any(|known| known == name) {
        return format!("a parameter is given as --ros-args -p {name}:={value}");
    }
    if argument.ends_with(".yaml") || argument.ends_with(".yml") {
        return format!("a scene is given as --ros-args -p scene:={argument}");
    }
    let dashed: Vec<String> = parameters.map(|known| format!("--{known}")).collect();
    match nearest(argument, OPTIONS.into_iter().chain(dashed.iter().map(String::as_str))) {
        Some(option) if OPTIONS.contains(&option) => format!("there is no such option; did you mean '{option}'?"),
        Some(parameter) => {
            let parameter = parameter.trim_start_matches('-');
            format!("there is no such option; did you mean --ros-args -p {parameter}:={value}?")
        }
        None => "there is no such option; isobar_node --help lists them, and the parameters".to_owned(),
    }
}

/// How an unknown argument after `--ros-args` is meant.
fn hint_of_ros(argument: &str) -> String {
    if argument.contains(":=") {
        return "a parameter follows -p, a name that is changed follows -r".to_owned();
    }
    let switches = ROS_SWITCHES.iter().flat_map(|name| [format!("--enable-{name}"), format!("--disable-{name}")]);
    let switches: Vec<String> = switches.collect();
    let known = ROS_VALUES.into_iter().filter(|name| name.starts_with("--")).chain([LOG_FILE_NAME]);
    let nearest = did_you_mean(argument, known.chain(switches.iter().map(String::as_str)));
    format!("ROS has no such option{nearest}; options of the node itself come before --ros-args or after --")
}

/// Checks `[NODE:]FROM:=TO`.
fn check_rule(rule: &str) -> Result<(), String> {
    let Some((from, to)) = rule.split_once(":=") else {
        return Err("a rule that renames has the form FROM:=TO".to_owned());
    };
    let from = match from.split_once(':') {
        Some(("rostopic" | "rosservice", _)) | None => from,
        Some((node, _)) if !is_part(node) => return Err(format!("'{node}' is not the name of a node: {PART}")),
        Some((_, from)) => from,
    };
    match from {
        "__node" | "__name" if !is_part(to) => {
            let rule = "must consist of ASCII letters, digits and _, and not begin with a digit";
            Err(format!("'{to}' is not the name of a node: it {rule}"))
        }
        "__ns" if to != "/" && !to.strip_prefix('/').is_some_and(|parts| parts.split('/').all(is_part)) => {
            Err(format!("'{to}' is not a namespace: it must begin with /, and {PART}"))
        }
        "__node" | "__name" | "__ns" => Ok(()),
        _ => match [from, to].into_iter().find(|name| !is_topic(name)) {
            Some(name) => Err(format!("'{name}' is not the name of a topic or service: {PART}")),
            None => Ok(()),
        },
    }
}

fn is_part(part: &str) -> bool {
    !part.starts_with(|c: char| c.is_ascii_digit())
        && !part.is_empty()
        && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether the client library takes `name`; one with substitutions or wildcards is left to it.
fn is_topic(name: &str) -> bool {
    let name = name.strip_prefix("rostopic://").or(name.strip_prefix("rosservice://")).unwrap_or(name);
    let parts = name.strip_prefix("~/").or(name.strip_prefix('/')).unwrap_or(name);
    parts.contains(['{', '*', '\\']) || parts.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> Option<String> {
        check(line.split(' ').map(OsString::from)).err().map(|error| error.to_string())
    }

    #[test]
    fn names_that_ros_takes_pass() {
        for line in [
            "isobar_node -r a-b --ros-args -p scene:=a-b.yaml -- -r a-b",
            "isobar_node --ros-args -r __node:=sim_2 -r __ns:=/ -r __name:=_a --remap __ns:=/team/_2/arm",
            "isobar_node --ros-args -r joint_states:=robot/states -r /tf:=tf -r ~/wrench/pad:=~/pad -r sim:clock:=c",
            "isobar_node --ros-args -r rosservice://a:=rosservice://b -r rostopic:///a:=/b -r {node}/a:=b",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
    }

    /// Regression, observed on the built node: it started without the scene of `--scene`, and with the
    /// default of each parameter behind a `-p` without `--ros-args`.
    #[test]
    fn arguments_that_nothing_reads_are_refused_with_what_is_meant() {
        let refusal = |line: &str| {
            let arguments = line.split(' ').map(str::to_owned);
            let refused = check_known(arguments, ["scene", "step", "real_time_factor"].into_iter()).err();
            refused.map(|error| error.to_string())
        };
        for line in [
            "isobar_node",
            "isobar_node -h --version -V --help",
            "isobar_node --ros-args -p scene:=a.yaml --params-file f.yaml -r a:=b --remap c:=d --param e:=1 --",
            "isobar_node --ros-args --log-level debug --disable-rosout-logs --enable-external-lib-logs -e /a",
            "isobar_node --ros-args -p scene:=a --ros-args -r __node:=b -- --help --ros-args --log-file-name x",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
        for (line, argument, meant) in [
            ("--scene x.yaml", "--scene", "--ros-args -p scene:=VALUE"),
            ("--scene=x.yaml", "--scene=x.yaml", "--ros-args -p scene:=x.yaml"),
            ("--real-time-factor 2", "--real-time-factor", "-p real_time_factor:=VALUE"),
            ("scene:=x.yaml", "scene:=x.yaml", "--ros-args -p scene:=x.yaml"),
            ("config/x.yaml", "config/x.yaml", "-p scene:=config/x.yaml"),
            ("-p scene:=x.yaml", "-p", "write --ros-args before it"),
            ("--params-file x.yaml", "--params-file", "write --ros-args before it"),
            ("--ros-arg -p a:=b", "--ros-arg", "did you mean '--ros-args'?"),
            ("--scen x", "--scen", "did you mean --ros-args -p scene:=VALUE?"),
            ("--ros-args -- x", "x", "no such option"),
            ("--ros-args scene:=x.yaml", "scene:=x.yaml", "follows -p"),
            ("--ros-args --params_file x", "--params_file", "did you mean '--params-file'?"),
            ("--ros-args --help", "--help", "before --ros-args"),
        ] {
            let text = refusal(&format!("isobar_node {line}")).unwrap_or_default();
            assert!(text.contains(&format!("argument '{argument}'")) && text.contains(meant), "{line}: {text}");
        }
    }

    #[test]
    fn other_names_are_refused_with_the_argument_and_the_rule() {
        for (rule, reason) in [
            ("__node:=my-node", "'my-node' is not the name of a node"),
            ("__name:=2nd", "not begin with a digit"),
            ("__node:=", "'' is not the name of a node"),
            ("__ns:=/my-robot", "'/my-robot' is not a namespace"),
            ("__ns:=robot", "must begin with /"),
            ("__ns:=/a//b", "'/a//b' is not a namespace"),
            ("__ns:=/a/", "'/a/' is not a namespace"),
            ("a-b:c:=d", "'a-b' is not the name of a node"),
            ("joint_states", "FROM:=TO"),
            ("a:=b-c", "'b-c' is not the name of a topic"),
            (":=b", "'' is not the name of a topic"),
            ("a:=", "'' is not the name of a topic"),
            ("a:=/", "'/' is not the name of a topic"),
        ] {
            let text = refusal(&format!("isobar_node --ros-args -r {rule}")).unwrap_or_default();
            assert!(text.contains(&format!("argument '{rule}'")) && text.contains(reason), "{rule}: {text}");
            assert_eq!(text.lines().count(), 1);
        }
        use std::os::unix::ffi::OsStringExt;
        let broken = ["isobar_node".into(), OsString::from_vec(vec![b'a', 0xff])];
        assert!(check(broken.into_iter()).is_err_and(|error| error.to_string().contains("UTF-8")));
    }
}
