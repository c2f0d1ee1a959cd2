//! Contacts as CSV: one row per contact and instant, after `#` comment lines with the units.
//!
//! Columns: `time` \[s\]; `A` and `B`, the names of the two geometries; `penetration` \[m\], `area` \[m2\]
//! and `faces`; the patch point `x y z`; the force on B `fx fy fz` and its moment about that point
//! `tx ty tz`, over the last step, in world axes; the largest errors of the friction of a face, `cone_error`
//! and `alignment_error` \[rad\], and those of the net friction, `net_cone_error` and `net_alignment_error`
//! \[rad\] ([`FrictionErrors`](crate::stepping::FrictionErrors)). An instant without contact has no row.

use std::io::Write;

use super::{RecordError, Rows, write_units};
use crate::math::{GeometryIndex, IndexVec};
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// The columns and their units.
const COLUMNS: [(&str, &str); 19] = [
    ("time", "s"),
    ("A", ""),
    ("B", ""),
    ("penetration", "m"),
    ("area", "m2"),
    ("faces", "1"),
    ("x", "m"),
    ("y", "m"),
    ("z", "m"),
    ("fx", "N"),
    ("fy", "N"),
    ("fz", "N"),
    ("tx", "N m"),
    ("ty", "N m"),
    ("tz", "N m"),
    ("cone_error", "1"),
    ("alignment_error", "rad"),
    ("net_cone_error", "1"),
    ("net_alignment_error", "rad"),
];

/// A CSV file of contacts being written.
pub struct ContactRecording<W: Write> {
    rows: Rows<W>,
    names: IndexVec<GeometryIndex, String>,
}

impl<W: Write> ContactRecording<W> {
    /// Writes the comment lines and the header. `title` becomes the first comment line.
    ///
    /// # Errors
    /// The sink cannot be written to.
    pub fn new(mut sink: W, title: &str, scene: &Scene) -> Result<Self, RecordError> {
        let head = |sink: &mut W| {
            writeln!(sink, "# {title}")?;
            writeln!(sink, "# One row for each contact: the force acts on B at the point x, y, z, and the moment is")?;
            writeln!(sink, "# about this point; world axes, over the last step. Units:")?;
            let with_units = COLUMNS.iter().filter(|(_, unit)| !unit.is_empty());
            let columns: Vec<_> = with_units.map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect();
            write_units(sink, &columns)
        };
        head(&mut sink).map_err(RecordError::Write)?;
        let mut names = IndexVec::new();
        for geometry in scene.geometries().iter() {
            names.push(geometry.name.clone());
        }
        Ok(Self { rows: Rows::new(sink, COLUMNS.iter().map(|(name, _)| *name))?, names })
    }

    /// Appends a row for each contact of `snapshot`.
    ///
    /// # Errors
    /// The sink cannot be written to.
    pub fn record(&mut self, snapshot: &Snapshot) -> Result<(), RecordError> {
        for patch in snapshot.contact_patches() {
            self.rows.number(snapshot.time_ns as f64 * 1e-9)?;
            self.rows.text(&self.names[patch.geometry_A])?;
            self.rows.text(&self.names[patch.geometry_B])?;
            self.rows.number(patch.penetration)?;
            self.rows.number(patch.area)?;
            self.rows.number(patch.faces.area.len() as f64)?;
            self.rows.vector(&patch.p_WC)?;
            self.rows.vector(&patch.F_BC_W.f)?;
            self.rows.vector(&patch.F_BC_W.tau)?;
            for errors in [patch.friction, patch.net_friction] {
                self.rows.number(errors.cone)?;
                self.rows.number(errors.alignment)?;
            }
            self.rows.end()?;
        }
        Ok(())
    }

    /// Writes buffered rows to the file.
    ///
    /// # Errors
    /// The sink cannot be written to.
    pub fn finish(self) -> Result<(), RecordError> {
        self.rows.finish()
    }
}
