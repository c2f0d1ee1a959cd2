//! Checks of the command line before the client library reads it, which panics at arguments that it refuses.

use std::ffi::OsString;

use super::error::ClientError;

/// The rule of a part of a name.
const PART: &str = "each part of it must consist of ASCII letters, digits and _, and not begin with a digit";

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
