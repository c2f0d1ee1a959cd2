//! Expansion of xacro files by the program `xacro`, which comes with ROS 2 and from PyPI.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::io::limits;

/// The programs that expand a xacro file, in the order in which they are tried: the one on the PATH, then the
/// package of the Python on the PATH.
const PROGRAMS: [&[&str]; 2] =
    [&["xacro"], &["python3", "-c", "import sys; sys.path.pop(0); import xacro; xacro.main()"]];
/// The number of lines of the program's messages that an error repeats.
const LINES_MAX: usize = 4;

/// The reason why a xacro file has no expansion.
#[derive(Debug, thiserror::Error)]
pub enum XacroError {
    /// The file cannot be read.
    #[error("{file}: cannot read the xacro file: {}", limits::way_out(source))]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        #[source]
        source: Error,
    },
    /// No program expands it.
    #[error(
        "{file}: a xacro file needs the program `xacro`, which is not installed; install it (package \
         ros-DISTRO-xacro, or `pip install xacro`), or expand the file elsewhere: `xacro FILE.xacro > FILE.urdf`"
    )]
    NoProgram {
        /// The file.
        file: PathBuf,
    },
    /// A file without arguments has some.
    #[error(
        "{file}: it takes no arguments, because its name does not end in `.xacro`; remove them, or rename the file"
    )]
    NoArguments {
        /// The file.
        file: PathBuf,
    },
    /// The program cannot be started.
    #[error("{file}: `{program}` cannot be started to expand the file ({source}); check its permissions")]
    Start {
        /// The file.
        file: PathBuf,
        /// The program.
        program: &'static str,
        /// The error of the system.
        #[source]
        source: Error,
    },
    /// The program refused the file.
    #[error("{file}: `xacro` refused the file: {messages}; arguments of the file: {arguments}")]
    Refused {
        /// The file.
        file: PathBuf,
        /// The last lines of the program's messages.
        messages: String,
        /// The arguments, as they were passed.
        arguments: String,
    },
    /// The expansion is too long, or no text.
    #[error("{file}: the expansion of the xacro file {problem}")]
    Text {
        /// The file.
        file: PathBuf,
        /// The fault and its remedy.
        problem: String,
    },
}

/// Whether a file is a xacro file, by its ending.
pub(super) fn is_xacro(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xacro"))
}

/// Refuses arguments of a file that is no xacro file.
pub(crate) fn refuse_arguments(file: &Path, arguments: &[(String, String)]) -> Result<(), XacroError> {
    match arguments.is_empty() || is_xacro(file) {
        true => Ok(()),
        false => Err(XacroError::NoArguments { file: file.to_path_buf() }),
    }
}

/// The URDF text of the xacro file `file`, with values for its arguments (`<xacro:arg>`) by name.
pub(super) fn expand(file: &Path, arguments: &[(String, String)]) -> Result<String, XacroError> {
    let read = |source| XacroError::Read { file: file.to_path_buf(), source };
    if !std::fs::metadata(file).map_err(read)?.is_file() {
        return Err(read(Error::from(ErrorKind::IsADirectory)));
    }
    let passed: Vec<String> = arguments.iter().map(|(name, value)| format!("{name}:={value}")).collect();
    let output = run(file, &passed)?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = messages.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        return Err(XacroError::Refused {
            file: file.to_path_buf(),
            messages: lines[lines.len().saturating_sub(LINES_MAX)..].join("; "),
            arguments: if passed.is_empty() { "none".to_owned() } else { passed.join(" ") },
        });
    }
    let text = |problem: String| XacroError::Text { file: file.to_path_buf(), problem };
    if output.stdout.len() as u64 > limits::TEXT_BYTES_MAX {
        return Err(text(format!("is longer than the {} bytes that are read", limits::TEXT_BYTES_MAX)));
    }
    String::from_utf8(output.stdout).map_err(|_| text("is not text in UTF-8; save the file in that encoding".into()))
}

/// The output of the first program that exists.
fn run(file: &Path, arguments: &[String]) -> Result<Output, XacroError> {
    for program in PROGRAMS {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(file).args(arguments).stdin(Stdio::null());
        match command.output() {
            // Python exists, and the package does not.
            Ok(output) if is_missing(&output) => {}
            Ok(output) => return Ok(output),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(XacroError::Start { file: file.to_path_buf(), program: program[0], source }),
        }
    }
    Err(XacroError::NoProgram { file: file.to_path_buf() })
}

/// Whether Python's message is that it has no package `xacro`.
fn is_missing(output: &Output) -> bool {
    !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("No module named 'xacro'")
}
