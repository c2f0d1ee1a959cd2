//! Recordings as CSV: one row per instant, after `#` comment lines with the units.
//!
//! `pandas.read_csv(file, comment="#")` reads them. Columns, in this order:
//! - `time` \[s\];
//! - for each joint with one degree of freedom `<joint>.position`, `.velocity`, `.effort`;
//! - for each planar joint `<joint>.x .y .theta .vx .vy .wtheta`, in the axes of
//!   [`JointKind::Planar`](crate::multibody::JointKind);
//! - for each free body `<body>.x .y .z`, the quaternion `.qw .qx .qy .qz`, the velocity of its origin
//!   `.vx .vy .vz` and the angular velocity `.wx .wy .wz`, all in the world;
//! - for each moving body with collision geometry the net contact wrench on it over the last step, `.fx
//!   .fy .fz` and, about its origin, `.tx .ty .tz`, in world axes;
//! - for each body in the scene's `wrenches`, the external wrench on it over the last step,
//!   `.external_fx .external_fy .external_fz .external_tx .external_ty .external_tz`, in the same way;
//! - `faces`, `faces_dropped`, `solver_iterations`, `solver_residual` (a multiple of the solver's tolerance),
//!   `solver_converged`, `friction_error` (a fraction of the limit of friction) of the last step;
//! - `cone_error` and `alignment_error` \[rad\] of the friction of a face, and `net_cone_error` and
//!   `net_alignment_error` \[rad\] of the net friction of a contact, the largest of all contacts
//!   ([`FrictionErrors`](crate::stepping::FrictionErrors));
//! - `kinetic_energy`, `potential_energy` (of weight, 0 at the world's origin) and `spring_energy` (of the
//!   joints' springs) \[J\];
//! - the scene's named outputs.
//!
//! Contacts have a file of their own ([`ContactRecording`]); [`table`] reads both.

mod contacts;
pub mod table;

use std::io::Write;

pub use contacts::ContactRecording;

use crate::math::{BodyIndex, Index, ScalarJointIndex, Vector3};
use crate::multibody::JointKind;
use crate::recording::{Outputs, joint_units};
use crate::scene::Scene;
use crate::stepping::Snapshot;

/// The reason why a recording stopped.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The rows cannot be written.
    #[error("cannot write the recording; check the free space and the permissions")]
    Write(#[source] std::io::Error),
}

/// A CSV file being written.
pub struct CsvRecording<W: Write> {
    rows: Rows<W>,
    free_bodies: Vec<BodyIndex>,
    contact_bodies: Vec<BodyIndex>,
    pushed_bodies: Vec<BodyIndex>,
}

/// The rows of a CSV file being written.
struct Rows<W: Write> {
    writer: csv::Writer<W>,
    /// The text of one field, reused.
    field: String,
}

impl<W: Write> CsvRecording<W> {
    /// Writes the comment lines and the header. `title` becomes the first comment line. `pushed_bodies` are
    /// those whose external wrenches are recorded.
    ///
    /// # Errors
    /// The sink cannot be written to.
    pub fn new(
        mut sink: W,
        title: &str,
        scene: &Scene,
        pushed_bodies: &[BodyIndex],
        outputs: &Outputs,
    ) -> Result<Self, RecordError> {
        let columns = columns(scene, pushed_bodies, outputs);
        write_comment(&mut sink, title, &columns).map_err(RecordError::Write)?;
        Ok(Self {
            rows: Rows::new(sink, columns.iter().map(|(name, _)| name.as_str()))?,
            free_bodies: scene.free_bodies().to_vec(),
            contact_bodies: scene.contact_bodies().to_vec(),
            pushed_bodies: pushed_bodies.to_vec(),
        })
    }

    /// Appends one row: `snapshot` and the outputs evaluated from it.
    ///
    /// # Errors
    /// The sink cannot be written to.
    pub fn record(&mut self, snapshot: &Snapshot, output_values: &[f64]) -> Result<(), RecordError> {
        self.rows.number(snapshot.time_ns as f64 * 1e-9)?;
        let joints = snapshot.joint_position.iter().zip(&snapshot.joint_velocity).zip(&snapshot.joint_effort);
        for ((position, velocity), effort) in joints {
            for value in [position, velocity, effort] {
                self.rows.number(*value)?;
            }
        }
        for value in snapshot.planar_joints.iter().flatten() {
            self.rows.number(*value)?;
        }
        for index in 0..self.free_bodies.len() {
            let body = self.free_bodies[index];
            let (X_WB, V_WB) = (&snapshot.X_WB[body], &snapshot.V_WB[body]);
            self.rows.vector(&X_WB.translation.vector)?;
            let q = nalgebra::UnitQuaternion::from_rotation_matrix(&X_WB.rotation);
            for value in [q.w, q.i, q.j, q.k] {
                self.rows.number(value)?;
            }
            self.rows.vector(&V_WB.v)?;
            self.rows.vector(&V_WB.w)?;
        }
        for index in 0..self.contact_bodies.len() {
            let F_BBo_W = &snapshot.F_BBo_W[self.contact_bodies[index]];
            self.rows.vector(&F_BBo_W.f)?;
            self.rows.vector(&F_BBo_W.tau)?;
        }
        for index in 0..self.pushed_bodies.len() {
            let F_BBo_W = &snapshot.external_F_BBo_W[self.pushed_bodies[index]];
            self.rows.vector(&F_BBo_W.f)?;
            self.rows.vector(&F_BBo_W.tau)?;
        }
        let report = &snapshot.report;
        self.rows.number(f64::from(report.faces))?;
        self.rows.number(f64::from(report.faces_dropped))?;
        self.rows.number(f64::from(report.solver_iterations))?;
        self.rows.number(report.solver_residual)?;
        // Before the first step no solve has failed.
        self.rows.number(f64::from(u8::from(report.solver_converged || snapshot.step == 0)))?;
        self.rows.number(report.friction_error)?;
        let (faces, net) = snapshot.friction_errors();
        for value in [faces.cone, faces.alignment, net.cone, net.alignment] {
            self.rows.number(value)?;
        }
        for value in [snapshot.energy.kinetic, snapshot.energy.potential, snapshot.spring_energy] {
            self.rows.number(value)?;
        }
        for value in output_values {
            self.rows.number(*value)?;
        }
        self.rows.end()
    }

    /// Writes buffered rows to the file.
    ///
    /// # Errors
    /// The sink cannot be written to.
    pub fn finish(self) -> Result<(), RecordError> {
        self.rows.finish()
    }
}

impl<W: Write> Rows<W> {
    /// Writes the header.
    fn new<'a>(sink: W, names: impl Iterator<Item = &'a str>) -> Result<Self, RecordError> {
        let mut writer = csv::Writer::from_writer(sink);
        writer.write_record(names).map_err(to_io)?;
        Ok(Self { writer, field: String::new() })
    }

    fn text(&mut self, text: &str) -> Result<(), RecordError> {
        self.writer.write_field(text).map_err(to_io)
    }

    /// Ends a row.
    fn end(&mut self) -> Result<(), RecordError> {
        self.writer.write_record(None::<&[u8]>).map_err(to_io)
    }

    fn finish(mut self) -> Result<(), RecordError> {
        self.writer.flush().map_err(RecordError::Write)
    }

    fn vector(&mut self, vector: &Vector3) -> Result<(), RecordError> {
        vector.iter().try_for_each(|value| self.number(*value))
    }

    /// Writes the shortest decimal text that reads back as the same bits.
    fn number(&mut self, value: f64) -> Result<(), RecordError> {
        use std::fmt::Write as _;
        self.field.clear();
        // Writing to a String cannot fail.
        let _ = write!(self.field, "{value:?}");
        self.writer.write_field(&self.field).map_err(to_io)
    }
}

fn to_io(error: csv::Error) -> RecordError {
    RecordError::Write(match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        // The number of fields is fixed; a mismatch would be a defect of this file, and is reported rather
        // than hidden.
        other => std::io::Error::other(format!("{other:?}")),
    })
}

/// Name and unit of every column.
fn columns(scene: &Scene, pushed_bodies: &[BodyIndex], outputs: &Outputs) -> Vec<(String, String)> {
    let mut columns = vec![("time".to_owned(), "s".to_owned())];
    let mut add = |owner: &str, fields: &[(&str, &str)]| {
        columns.extend(fields.iter().map(|(field, unit)| (format!("{owner}{field}"), (*unit).to_owned())));
    };
    for (number, joint) in scene.joint_names().iter().enumerate() {
        let units = joint_units(scene, ScalarJointIndex::from_usize(number));
        add(joint, &[(".position", units.position), (".velocity", units.velocity), (".effort", units.effort)]);
    }
    for joint in scene.model().joints().iter().filter(|joint| joint.kind == JointKind::Planar) {
        add(&joint.name, &[(".x", "m"), (".y", "m"), (".theta", "rad")]);
        add(&joint.name, &[(".vx", "m/s"), (".vy", "m/s"), (".wtheta", "rad/s")]);
    }
    for body in scene.free_bodies() {
        let name = scene.body_name(*body);
        add(name, &[(".x", "m"), (".y", "m"), (".z", "m")]);
        add(name, &[(".qw", "1"), (".qx", "1"), (".qy", "1"), (".qz", "1")]);
        add(name, &[(".vx", "m/s"), (".vy", "m/s"), (".vz", "m/s")]);
        add(name, &[(".wx", "rad/s"), (".wy", "rad/s"), (".wz", "rad/s")]);
    }
    for body in scene.contact_bodies() {
        let name = scene.body_name(*body);
        add(name, &[(".fx", "N"), (".fy", "N"), (".fz", "N"), (".tx", "N m"), (".ty", "N m"), (".tz", "N m")]);
    }
    for body in pushed_bodies {
        let (name, forces) =
            (scene.body_name(*body), [(".external_fx", "N"), (".external_fy", "N"), (".external_fz", "N")]);
        add(name, &forces);
        add(name, &[(".external_tx", "N m"), (".external_ty", "N m"), (".external_tz", "N m")]);
    }
    add("", &[("faces", "1"), ("faces_dropped", "1"), ("solver_iterations", "1")]);
    add("", &[("solver_residual", "1"), ("solver_converged", "1"), ("friction_error", "1")]);
    add("", &[("cone_error", "1"), ("alignment_error", "rad")]);
    add("", &[("net_cone_error", "1"), ("net_alignment_error", "rad")]);
    add("", &[("kinetic_energy", "J"), ("potential_energy", "J"), ("spring_energy", "J")]);
    for output in outputs.outputs() {
        add(&output.name, &[("", output.unit)]);
    }
    columns
}

/// The comment lines: the title, then the columns of each unit.
fn write_comment(sink: &mut impl Write, title: &str, columns: &[(String, String)]) -> std::io::Result<()> {
    writeln!(sink, "# {title}")?;
    writeln!(
        sink,
        "# Poses, velocities and wrenches are in the world frame; wrenches act on the body, about its origin,"
    )?;
    writeln!(sink, "# and are those of the last step. Units:")?;
    write_units(sink, columns)
}

/// One comment line for each unit, with its columns.
fn write_units(sink: &mut impl Write, columns: &[(String, String)]) -> std::io::Result<()> {
    let mut units: Vec<&str> = columns.iter().map(|(_, unit)| unit.as_str()).collect();
    units.sort_unstable();
    units.dedup();
    for unit in units {
        let names: Vec<&str> =
            columns.iter().filter(|(_, other)| other == unit).map(|(name, _)| name.as_str()).collect();
        writeln!(sink, "# [{unit}] {}", names.join(" "))?;
    }
    Ok(())
}
