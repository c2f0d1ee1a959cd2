//! Checkpoints as files.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::stepping::{Checkpoint, CheckpointError};

/// The largest file that is read \[bytes\].
const BYTES_MAX: u64 = 1 << 30;

/// The reason why a checkpoint was not written or not read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointFileError {
    /// The file cannot be written. An earlier checkpoint at its path is unchanged.
    #[error("cannot write the checkpoint {}; check the folder, the free space and the permissions", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the checkpoint {}; check the path", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is too large.
    #[error("checkpoint {}: it has {bytes} bytes, and at most {BYTES_MAX} are read; it is not a checkpoint", file.display())]
    Large {
        /// The file.
        file: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// The checkpoint is refused.
    #[error("checkpoint {}: {reason}", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The reason, which the message contains; it is therefore not the error's source.
        reason: CheckpointError,
    },
}

/// Writes a checkpoint to `file`. The bytes are written to `file` with `.partial` appended, which is then
/// renamed: at any instant `file` is a complete checkpoint, the new or the previous one.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, checkpoint: &Checkpoint) -> Result<(), CheckpointFileError> {
    let partial = partial(file);
    let written = File::create(&partial).and_then(|mut target| {
        target.write_all(&checkpoint.to_bytes())?;
        target.sync_all()?;
        std::fs::rename(&partial, file)
    });
    written.map_err(|source| CheckpointFileError::Write { file: file.to_path_buf(), source })
}

fn partial(file: &Path) -> PathBuf {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    PathBuf::from(partial)
}

/// Checks that `file`, which does not exist yet, can be written.
///
/// # Errors
/// The file cannot be written.
pub fn check_writable(file: &Path) -> Result<(), CheckpointFileError> {
    let partial = partial(file);
    let probed = match File::create_new(&partial) {
        Ok(_) => std::fs::remove_file(&partial),
        // A run that was killed has left it.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            File::options().append(true).open(&partial).map(drop)
        }
        Err(error) => Err(error),
    };
    probed.map_err(|source| CheckpointFileError::Write { file: file.to_path_buf(), source })
}

/// Reads the checkpoint `file`.
///
/// # Errors
/// The file cannot be read, or is not a complete checkpoint of a supported version.
pub fn read(file: &Path) -> Result<Checkpoint, CheckpointFileError> {
    let failed = |source| CheckpointFileError::Read { file: file.to_path_buf(), source };
    let mut bytes = Vec::new();
    // To open a pipe would wait for its other end.
    let metadata = std::fs::metadata(file).map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(std::io::Error::other("it is not a regular file")));
    }
    let (source, len) = (File::open(file).map_err(failed)?, metadata.len());
    if len > BYTES_MAX {
        return Err(CheckpointFileError::Large { file: file.to_path_buf(), bytes: len });
    }
    source.take(BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    Checkpoint::from_bytes(&bytes).map_err(|source| refused(file, source))
}

/// The refusal of a checkpoint that was read from `file`.
pub fn refused(file: &Path, reason: CheckpointError) -> CheckpointFileError {
    CheckpointFileError::Refused { file: file.to_path_buf(), reason }
}
