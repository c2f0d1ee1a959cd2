//! Files of tosses, as in `data/tosses_processed` of ContactNets: one tensor of doubles per file, saved by a
//! PyTorch before 1.6.
//!
//! A row has the position in half widths of the cube (3), the quaternion with its real part first (4), the
//! velocity in half widths per second (3), the angular velocity in the cube's own axes [rad/s] (3), and
//! controls, which are zero (6). Rows are 1/148 s apart.

use std::path::{Path, PathBuf};

use nalgebra::{Quaternion, UnitQuaternion};

use crate::experiments::ExperimentError;
use crate::math::{Rotation, Vector3};

/// Width of the cube \[m\].
pub const WIDTH: f64 = 0.1048;
/// The first bytes of a tensor's file: the magic number of the format as a pickle.
const MAGIC: [u8; 15] = [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e];
/// The first bytes of files of newer versions.
const ZIP: &[u8] = b"PK";
/// The class of a storage of doubles in the pickle.
const DOUBLES: &[u8] = b"DoubleStorage";
/// Numbers in a row.
const COLUMNS: usize = 19;
/// A quaternion whose length differs from 1 by more than this is refused [-].
const UNIT: f64 = 1e-3;
/// A file with fewer rows has no motion.
const ROWS_MIN: usize = 2;

/// A state of the cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TossState {
    /// Position of the centre over the table \[m\].
    pub position: Vector3,
    /// Rotation of the cube.
    pub rotation: Rotation,
    /// Velocity of the centre [m/s].
    pub velocity: Vector3,
    /// Angular velocity in the axes of the world [rad/s].
    pub spin: Vector3,
}

/// A measured toss.
#[derive(Clone, Debug, PartialEq)]
pub struct Toss {
    /// Its file without the ending.
    pub name: String,
    /// Its states, 1/148 s apart.
    pub states: Vec<TossState>,
}

/// Reads all files with the ending `pt` in `folder`, in the order of their numbers.
///
/// # Errors
/// A folder or a file that cannot be read, a file that is not a toss, or a folder without one.
pub fn read_folder(folder: &Path) -> Result<Vec<Toss>, ExperimentError> {
    let unread = |path: &Path| {
        let path = path.to_owned();
        move |source| ExperimentError::Read { path, source }
    };
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread(folder))? {
        let path = entry.map_err(unread(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "pt") {
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok()).unwrap_or(u64::MAX);
            files.push((number, path));
        }
    }
    files.sort();
    if files.is_empty() {
        let problem = "the folder has no file with the ending `pt`; name the folder `data/tosses_processed`";
        return Err(ExperimentError::Tosses { path: folder.to_owned(), problem: problem.to_owned() });
    }
    let read = |(_, path): &(u64, PathBuf)| {
        let bytes = std::fs::read(path).map_err(unread(path))?;
        let states = states_of(&bytes).map_err(|problem| ExperimentError::Tosses { path: path.clone(), problem })?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Toss { name, states })
    };
    files.iter().map(read).collect()
}

fn number(bytes: &[u8], at: usize) -> Option<[u8; 8]> {
    bytes.get(at..at + 8)?.try_into().ok()
}

/// The states in a file's bytes, or the fault. The numbers are the last bytes, behind their count.
fn states_of(bytes: &[u8]) -> Result<Vec<TossState>, String> {
    if bytes.starts_with(ZIP) {
        return Err("it was saved by PyTorch 1.6 or newer; save it again with \
                    `torch.save(tensor, file, _use_new_zipfile_serialization=False)`"
            .to_owned());
    }
    if !bytes.starts_with(&MAGIC) {
        return Err("it does not begin with the magic number of a PyTorch tensor".to_owned());
    }
    if !bytes.windows(DOUBLES.len()).any(|part| part == DOUBLES) {
        return Err("its numbers are not doubles; save it again with `tensor.double()`".to_owned());
    }
    let begin = |rows: usize| bytes.len().checked_sub(8 * (1 + COLUMNS * rows));
    let is_count = |rows: usize| {
        begin(rows).and_then(|at| number(bytes, at)).map(u64::from_le_bytes) == Some((COLUMNS * rows) as u64)
    };
    let Some(rows) = (ROWS_MIN..=bytes.len() / (8 * COLUMNS)).find(|rows| is_count(*rows)) else {
        return Err(format!("it does not end with rows of {COLUMNS} numbers"));
    };
    let first = bytes.len() - 8 * COLUMNS * rows;
    let value = |row: usize, column: usize| {
        let at = first + 8 * (COLUMNS * row + column);
        number(bytes, at).map_or(f64::NAN, f64::from_le_bytes)
    };
    let state = |row: usize| {
        let vector = |column: usize| Vector3::new(value(row, column), value(row, column + 1), value(row, column + 2));
        let quaternion = Quaternion::new(value(row, 3), value(row, 4), value(row, 5), value(row, 6));
        let (position, velocity, spin) = (vector(0), vector(7), vector(10));
        if ![position, velocity, spin].iter().all(|v| v.iter().all(|x| x.is_finite())) {
            return Err(format!("row {} has a number that is not finite", row + 1));
        }
        if (quaternion.norm() - 1.0).abs() > UNIT || !quaternion.norm().is_finite() {
            return Err(format!("the quaternion of row {} has the length {}", row + 1, quaternion.norm()));
        }
        let rotation = UnitQuaternion::from_quaternion(quaternion).to_rotation_matrix();
        let half = 0.5 * WIDTH;
        Ok(TossState { position: half * position, rotation, velocity: half * velocity, spin: rotation * spin })
    };
    (0..rows).map(state).collect()
}

/// The row of a state, for tests.
#[cfg(test)]
pub(super) fn row_of(state: &TossState) -> [f64; COLUMNS] {
    let mut row = [0.0; COLUMNS];
    let half = 0.5 * WIDTH;
    let quaternion = UnitQuaternion::from_rotation_matrix(&state.rotation);
    row[..3].copy_from_slice((state.position / half).as_slice());
    row[3..7].copy_from_slice(&[quaternion.w, quaternion.i, quaternion.j, quaternion.k]);
    row[7..10].copy_from_slice((state.velocity / half).as_slice());
    row[10..13].copy_from_slice(state.rotation.inverse_transform_vector(&state.spin).as_slice());
    row
}

/// The bytes of a file with the given rows, for tests.
#[cfg(test)]
pub(super) fn file_of(rows: &[[f64; COLUMNS]]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(b"\x80\x02M\xe9\x03.\x80\x02ctorch\nDoubleStorage\nq\x02.");
    bytes.extend_from_slice(&((COLUMNS * rows.len()) as u64).to_le_bytes());
    rows.iter().flatten().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions are half widths; the angular velocity is turned into the axes of the world.
    #[test]
    fn rows_are_states_in_si_units() {
        let mut row = [0.0; COLUMNS];
        row[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
        // A quarter of a turn about z: x becomes y
        let half = std::f64::consts::FRAC_1_SQRT_2;
        row[3..7].copy_from_slice(&[half, 0.0, 0.0, half]);
        row[7..10].copy_from_slice(&[-1.0, 0.0, 4.0]);
        row[10..13].copy_from_slice(&[5.0, 0.0, 0.0]);
        let states = states_of(&file_of(&[row, row, row])).expect("three states");
        assert_eq!(states.len(), 3);
        let state = states[2];
        assert!((state.position - Vector3::new(0.0524, 0.1048, 0.1572)).norm() < 1e-15);
        assert!((state.velocity - Vector3::new(-0.0524, 0.0, 0.2096)).norm() < 1e-15);
        assert!((state.spin - Vector3::new(0.0, 5.0, 0.0)).norm() < 1e-12);
    }

    /// Each fault has its own words.
    #[test]
    fn faults_are_named() {
        let mut row = [0.0; COLUMNS];
        let fault = |bytes: &[u8]| states_of(bytes).expect_err("a fault");
        assert!(fault(b"PK\x03\x04").contains("PyTorch 1.6 or newer"));
        assert!(fault(b"time,x,y").contains("magic number"));
        assert!(fault(&MAGIC).contains("not doubles"));
        assert!(fault(&file_of(&[row, row])).contains("the quaternion of row 1 has the length 0"));
        row[3] = 1.0;
        let good = file_of(&[row, row]);
        assert!(fault(&good[..good.len() - 8]).contains("rows of 19 numbers"));
        row[0] = f64::NAN;
        assert!(fault(&file_of(&[row, row])).contains("row 1 has a number that is not finite"));
    }
}
