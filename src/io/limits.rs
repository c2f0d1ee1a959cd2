//! The largest files and models that are read. They bound the memory and the time that a file or a client can
//! take; the error for a larger file names the limit. docs/reference/ros.md lists them.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The largest length of a scene, a task, a URDF and an SRDF \[bytes\].
pub const TEXT_BYTES_MAX: u64 = 64 << 20;
/// The largest length of a mesh file \[bytes\].
pub const MESH_BYTES_MAX: u64 = 512 << 20;
/// The largest number of nodes (elements, texts and comments) of an XML document.
pub const XML_NODES_MAX: u32 = 200_000;
/// The largest number of links of a URDF.
pub const LINKS_MAX: usize = 5_000;
/// The largest number of models of a scene. Their pairs, which are listed, then take about 0.5 GB.
pub const MODELS_MAX: usize = 2_500;
/// The largest number of pairs of geometries of a scene whose boxes overlap at the start. A rigid pair that
/// touches takes about 5 to 15 kB, a compliant one 30 kB, and up to 250 kB if round bodies overlap by much.
pub const NEAR_PAIRS_MAX: usize = 300_000;
/// The largest number of degrees of freedom of a model: its mass matrix then takes 72 MB. For those of a
/// scene see [`Stepping::dofs_max`](crate::stepping::Stepping::dofs_max).
pub const MODEL_DOFS_MAX: usize = 3_000;

/// The contents of the file at `path`, of at most `bytes_max`.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let why = format!("the file is longer than the {bytes_max} bytes that are read");
        return Err(Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// As [`read`], for a text of at most [`TEXT_BYTES_MAX`].
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path, TEXT_BYTES_MAX)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        Error::new(ErrorKind::InvalidData, format!("line {line} is not text in UTF-8"))
    })
}

/// The way out after a file could not be read.
pub(crate) fn way_out(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file; check the path",
        ErrorKind::PermissionDenied => "check the permissions",
        ErrorKind::IsADirectory => "it is a folder; name a file in it",
        ErrorKind::FileTooLarge => "make it smaller",
        ErrorKind::InvalidData => "it is not text in UTF-8; save it in that encoding",
        _ => "check the path and the permissions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way out depends on the cause.
    #[test]
    fn causes_have_ways_out() {
        let folder = std::env::temp_dir().join(format!("isobar_limits_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("latin.yaml");
        std::fs::write(&file, b"a: 1\nb: gr\xfcn\n").unwrap();
        let latin = read_text(&file).unwrap_err();
        assert_eq!(latin.to_string(), "line 2 is not text in UTF-8");
        assert!(way_out(&latin).contains("UTF-8"));
        assert!(way_out(&read_text(&folder).unwrap_err()).contains("folder"));
        assert!(way_out(&read_text(&folder.join("gone")).unwrap_err()).contains("check the path"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A file without an end is read to the limit and refused.
    #[test]
    fn files_are_read_up_to_the_limit() {
        let refused = read(Path::new("/dev/zero"), 1000).unwrap_err();
        assert!(refused.to_string().contains("longer than the 1000 bytes"), "{refused}");
        let file = "big.obj".into();
        let mesh = crate::io::mesh_files::MeshFileError::Read { file, source: refused }.to_string();
        assert!(mesh.contains("longer than the 1000 bytes that are read; make it smaller"), "{mesh}");
        assert!(read(Path::new("/dev/null"), 1000).unwrap().is_empty());
    }
}
