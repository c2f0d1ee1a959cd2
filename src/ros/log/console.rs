//! Lines on the console in the format of ROS, `[INFO] [seconds] [name]: text`, and the level that the
//! arguments `--log-level LEVEL` and `--log-level NAME:=LEVEL` set.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// The text of a log line.
pub(super) struct Message(pub(super) String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// Writes lines as `rcutils` does.
pub(super) struct RosFormat {
    /// The name of the node.
    pub(super) name: String,
}

/// The name of a level, and its colour on a terminal.
fn level_of(level: &Level) -> (&'static str, &'static str) {
    match *level {
        Level::ERROR => ("ERROR", "\x1b[31m"),
        Level::WARN => ("WARN", "\x1b[33m"),
        Level::INFO => ("INFO", ""),
        Level::DEBUG | Level::TRACE => ("DEBUG", "\x1b[32m"),
    }
}

/// A line without its end.
fn line(level: &str, seconds: f64, name: &str, text: &str) -> String {
    format!("[{level}] [{seconds:.9}] [{name}]: {text}")
}

impl<S, N> FormatEvent<S, N> for RosFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut message = Message(String::new());
        event.record(&mut message);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let (level, color) = level_of(event.metadata().level());
        let line = line(level, now, &self.name, &message.0);
        let (color, end) = if writer.has_ansi_escapes() && !color.is_empty() { (color, "\x1b[0m") } else { ("", "") };
        writeln!(writer, "{color}{line}{end}")
    }
}

/// The level that `arguments` set for the node called `name`, as a directive of the filter; `None` if they
/// set none. Later arguments take precedence. The second value is an argument that is no level.
pub(super) fn level_argument(
    arguments: impl Iterator<Item = String>,
    name: &str,
) -> (Option<&'static str>, Option<String>) {
    let (mut level, mut unknown, mut in_ros, mut expected) = (None, None, false, false);
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => in_ros = true,
            "--" => in_ros = false,
            "--log-level" if in_ros => expected = true,
            _ if std::mem::take(&mut expected) => {
                let (logger, value) = argument.rsplit_once(":=").unwrap_or((name, &argument));
                let directive = match value.to_ascii_lowercase().as_str() {
                    "debug" => "debug",
                    "info" | "unset" => "info",
                    "warn" => "warn",
                    "error" | "fatal" => "error",
                    _ => {
                        unknown = Some(argument.clone());
                        continue;
                    }
                };
                // Other loggers are those of the client library.
                if logger == name {
                    level = Some(directive);
                }
            }
            _ => {}
        }
    }
    (level, unknown)
}

/// The name of the node: `default`, unless `arguments` rename it.
pub(super) fn node_name(arguments: impl Iterator<Item = String>, default: &str) -> String {
    let (mut name, mut in_ros) = (default.to_owned(), false);
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => in_ros = true,
            "--" => in_ros = false,
            _ => {
                let renamed = argument.strip_prefix("__node:=").or(argument.strip_prefix("__name:="));
                if let Some(renamed) = renamed.filter(|_| in_ros) {
                    renamed.clone_into(&mut name);
                }
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> impl Iterator<Item = String> {
        text.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn the_log_level_of_the_arguments_is_that_of_the_node() {
        for (arguments, level) in [
            ("isobar_node --ros-args -p scene:=a.yaml", None),
            ("isobar_node --ros-args --log-level debug", Some("debug")),
            ("isobar_node --ros-args --log-level isobar:=WARN -p scene:=a.yaml", Some("warn")),
            ("isobar_node --ros-args --log-level rcl:=debug", None),
            ("isobar_node --ros-args --log-level info --log-level fatal", Some("error")),
            ("isobar_node --log-level debug", None),
            ("isobar_node --ros-args -p a:=1 -- --log-level debug", None),
        ] {
            assert_eq!(level_argument(given(arguments), "isobar"), (level, None), "{arguments}");
        }
        let (level, unknown) = level_argument(given("isobar_node --ros-args --log-level loud"), "isobar");
        assert_eq!((level, unknown.as_deref()), (None, Some("loud")));
    }

    #[test]
    fn a_renamed_node_logs_under_its_name() {
        assert_eq!(node_name(given("isobar_node --ros-args -r __node:=sim -p a:=1"), "isobar"), "sim");
        assert_eq!(node_name(given("isobar_node -r __node:=sim"), "isobar"), "isobar");
    }

    #[test]
    fn lines_are_in_the_format_of_ros() {
        assert_eq!(line("WARN", 12.5, "isobar", "late"), "[WARN] [12.500000000] [isobar]: late");
    }
}
