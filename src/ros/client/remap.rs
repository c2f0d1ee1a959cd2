//! The rules of a command line that rename topics, for names that do not reach the client library: those in
//! recordings.

/// The topics that `arguments` rename for the node `name` in `namespace` (`/` for the root): the old and the
/// new full name of each. If several rules rename one topic, the first holds.
pub(super) fn renamed_topics(
    arguments: impl Iterator<Item = String>,
    name: &str,
    namespace: &str,
) -> Vec<(String, String)> {
    let mut of_ros = false;
    let mut expected = false;
    let mut rules = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => of_ros = true,
            "--" => of_ros = false,
            "-r" | "--remap" if of_ros => {
                expected = true;
                continue;
            }
            rule if of_ros && expected => rules.extend(read_rule(rule, name, namespace)),
            _ => {}
        }
        expected = false;
    }
    rules
}

/// Reads `[NODE:]FROM:=TO` with full names; `None` if the rule does not rename a topic of this node.
fn read_rule(rule: &str, name: &str, namespace: &str) -> Option<(String, String)> {
    let (from, to) = rule.split_once(":=")?;
    let from = match from.split_once(':') {
        Some(("rostopic", rest)) => rest.strip_prefix("//")?,
        Some(("rosservice", _)) => return None,
        Some((node, from)) if node == name => from.strip_prefix("rostopic://").unwrap_or(from),
        Some(_) => return None,
        None => from,
    };
    // Two underscores begin the rules for the node's own name and namespace.
    let is_topic = !from.is_empty() && !from.starts_with("__");
    is_topic.then(|| (full_name(from, name, namespace), full_name(to, name, namespace)))
}

/// The full name of a topic: private names follow the node, relative ones its namespace.
fn full_name(topic: &str, name: &str, namespace: &str) -> String {
    let namespace = namespace.trim_end_matches('/');
    match (topic.strip_prefix("~/"), topic.starts_with('/')) {
        (Some(private), _) => format!("{namespace}/{name}/{private}"),
        (None, true) => topic.to_owned(),
        (None, false) => format!("{namespace}/{topic}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(line: &str, name: &str, namespace: &str) -> Vec<(String, String)> {
        renamed_topics(line.split(' ').map(str::to_owned), name, namespace)
    }

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
        pairs.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec()
    }

    #[test]
    fn rules_are_read_as_the_client_library_does() {
        let line =
            "isobar_node -r a:=b --ros-args -r joint_states:=robot/states -p x:=y --remap /tf:=tf -r ~/wrench/pad:=pad";
        let expected = pairs([("/joint_states", "/robot/states"), ("/tf", "/tf"), ("/isobar/wrench/pad", "/pad")]);
        assert_eq!(rules(line, "isobar", "/"), expected);
        let line = "n --ros-args -r __node:=sim -r sim:clock:=c -r other:clock:=d -r rosservice://a:=b -r rostopic://a:=b -- -r e:=f";
        assert_eq!(rules(line, "sim", "/arm"), pairs([("/arm/clock", "/arm/c"), ("/arm/a", "/arm/b")]));
    }
}
