//! The lock on the file of checkpoints: two nodes with one file would overwrite each other's checkpoints.

use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::io::checkpoint_file::CheckpointFileError;
use crate::ros::node_error::NodeError;

/// The number of attempts to lock a file that other nodes remove at the same time.
const ATTEMPTS_MAX: u32 = 100;

/// The absolute path of a file that need not exist, without symbolic links.
pub(crate) fn canonical(file: &Path) -> PathBuf {
    if let Ok(canonical) = file.canonicalize() {
        return canonical;
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_path_buf(),
    }
}

/// A held lock. It is a file of its own, `FILE.lock`, because each new checkpoint replaces the file. The
/// system releases it also if the node is killed; the file without a lock that is then left has no effect.
#[derive(Debug)]
pub(crate) struct CheckpointLock {
    path: PathBuf,
    _file: File,
}

impl CheckpointLock {
    /// Locks the checkpoint `file`; `None` if another process has locked it.
    ///
    /// # Errors
    /// The lock file cannot be made, or the file system has no locks ([`ErrorKind::Unsupported`]).
    pub(crate) fn take(file: &Path) -> Result<Option<Self>, Error> {
        let mut path = canonical(file).into_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        for _ in 0..ATTEMPTS_MAX {
            let lock = File::options().create(true).append(true).open(&path)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Another node may have removed the file between the two.
            let same = |there: std::fs::Metadata| lock.metadata().is_ok_and(|own| own.ino() == there.ino());
            if std::fs::metadata(&path).is_ok_and(same) {
                return Ok(Some(Self { path, _file: lock }));
            }
        }
        Err(Error::new(ErrorKind::ResourceBusy, "other processes make and remove the lock file again and again"))
    }
}

/// Locks the checkpoint `file`, if there is one, until the lock is dropped.
///
/// # Errors
/// Another node has it, or its folder cannot be written. A file that exists in such a folder is only read, so
/// that it needs no lock.
pub(crate) fn lock_checkpoint(file: &Path) -> Result<Option<CheckpointLock>, NodeError> {
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    match CheckpointLock::take(file) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(NodeError::CheckpointInUse { file: file.to_path_buf() }),
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            let file = file.display();
            tracing::warn!("{file}: its file system has no locks, so that another node with this file is not noticed");
            Ok(None)
        }
        Err(error)
            if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) && file.exists() =>
        {
            Ok(None)
        }
        Err(source) => {
            let unwritable = CheckpointFileError::Write { file: file.to_path_buf(), source };
            Err(NodeError::CheckpointOutput(unwritable))
        }
    }
}

impl Drop for CheckpointLock {
    fn drop(&mut self) {
        // While it is locked, so that no other node has locked this file.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_locked_once_whatever_its_path_and_free_again_afterwards() {
        let folder = std::env::temp_dir().join(format!("isobar_lock_{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        std::os::unix::fs::symlink(folder.join("a"), folder.join("b")).unwrap();
        let take = |path: &str| CheckpointLock::take(&folder.join(path)).unwrap();
        let first = take("a/run.checkpoint");
        assert!(first.is_some());
        for same in ["a/run.checkpoint", "b/run.checkpoint", "a/../b/run.checkpoint"] {
            assert!(take(same).is_none(), "{same}");
        }
        assert!(take("a/other.checkpoint").is_some());
        drop(first);
        assert!(std::fs::read_dir(folder.join("a")).unwrap().next().is_none(), "no lock file stays");
        // A node that was killed has left the file, without a lock.
        std::fs::write(folder.join("a/run.checkpoint.lock"), "").unwrap();
        assert!(take("b/run.checkpoint").is_some());
        assert!(CheckpointLock::take(&folder.join("c/run.checkpoint")).is_err(), "no such folder");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
