//! A complementarity step: the momentum, joints and contact pairs of a dynamic step, with contacts as rows of
//! a mixed problem.
//!
//! M v - G^T lambda = M v_f + h tau [Andersson 2021, eq. 3.8], with v_f the velocity at the end of free
//! motion. Deviation: eq. 3.8 has M v0 + h f there, which lets bodies that spin fast gain energy.

use super::directions::{DirectionInputs, directions, random_angle};
use super::memory::{ContactMemory, KnownPoint};
use crate::math::{BodyIndex, ByteReader, ByteWriter, BytesError, SpatialForce, Vector3};
use crate::multibody::{Data, Model};
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::complementarity::{
    ComplementarityProblem, ContactSolver, FaceRows, FrictionLaw, LANDING, PatchInput, TangentInput, Tangents,
    net_impulse,
};
use crate::stepping::contacts::Pairs;
use crate::stepping::dynamic::{DynamicStep, singular};
use crate::stepping::error::{StepError, joint_of_dof};
use crate::stepping::input::StepInput;
use crate::stepping::result::StepResult;
use crate::stepping::settings::{DissipationModel, DynamicStepping, SpookStepping};
use crate::stepping::snapshot::{StepReport, StepTimes};

/// The memory of complementarity steps.
#[derive(Clone, Debug)]
pub(in crate::stepping) struct SpookStep {
    options: SpookStepping,
    /// Motion, joints and contact pairs.
    base: DynamicStep,
    problem: ComplementarityProblem,
    solver: ContactSolver,
    impulses: Vec<f64>,
    faces: Vec<FaceRows>,
    /// The end of each patch in `faces`.
    ends: Vec<usize>,
    net: Vec<SpatialForce>,
    memory: ContactMemory,
}

impl SpookStep {
    pub(in crate::stepping) fn new(options: SpookStepping, model: &Model) -> Self {
        let base = DynamicStepping {
            dissipation: DissipationModel::Linear,
            surfaces: options.surfaces,
            ..DynamicStepping::default()
        };
        let mut base = DynamicStep::new(base, model);
        base.contacts.land_with(LANDING);
        Self {
            options,
            base,
            problem: ComplementarityProblem::default(),
            solver: ContactSolver::default(),
            impulses: Vec::new(),
            faces: Vec::new(),
            ends: Vec::new(),
            net: Vec::new(),
            memory: ContactMemory::default(),
        }
    }

    pub(in crate::stepping) fn options(&self) -> &SpookStepping {
        &self.options
    }
    pub(in crate::stepping) fn pairs(&self) -> &Pairs {
        &self.base.contacts.pairs
    }
    /// Writes the data that the next step takes from the last one.
    pub(in crate::stepping) fn write_memory(&self, model: &Model, writer: &mut ByteWriter) {
        self.base.write_memory(model, writer);
        self.memory.write(writer);
    }
    /// Reads the output of [`SpookStep::write_memory`].
    pub(in crate::stepping) fn read_memory(
        &mut self,
        scene: &Scene,
        reader: &mut ByteReader<'_>,
    ) -> Result<(), BytesError> {
        self.base.read_memory(scene, reader)?;
        self.memory.read(scene.contact_pairs().len(), reader)
    }

    /// Solves for the end of the step. If it fails, the memory of the last step stays.
    pub(in crate::stepping) fn step(
        &mut self,
        input: &StepInput<'_>,
        data: &mut Data,
        result: &mut StepResult,
    ) -> Result<(), StepError> {
        self.base.contacts.pairs.keep_loads();
        self.try_step(input, data, result).inspect_err(|_| self.base.contacts.pairs.restore_loads())
    }

    fn try_step(&mut self, input: &StepInput<'_>, data: &mut Data, result: &mut StepResult) -> Result<(), StepError> {
        let (model, h) = (input.scene.model(), input.settings.step());
        let start = input.now();
        let moved = self.base.assemble(input, data)?;
        let mut times = StepTimes { motion: moved - start, contact: 0.0, solver: 0.0 };
        let mut searched = moved;
        let (mut solver_iterations, mut friction_rounds) = (0, 0);
        let solved = loop {
            self.add_rows(input, data)?;
            let assembled = input.now();
            let Self { problem, solver, base, impulses, options, .. } = self;
            let v = &mut result.state.v;
            let solved = solver.solve(problem, &base.problem.momentum, &options.solver, impulses, v);
            if solved.residual.is_nan() {
                return Err(StepError::Residual { time: input.time });
            }
            if let Some(row) = solved.infeasible {
                return Err(StepError::Infeasible { time: input.time, element: self.element(input.scene, row) });
            }
            let ended = input.now();
            solver_iterations += solved.iterations;
            friction_rounds += solved.rounds;
            times.contact += assembled - searched;
            times.solver += ended - assembled;
            if !base.assemble_farther(input, data, v) {
                times.contact += input.now() - ended;
                break solved;
            }
            searched = ended;
        };
        result.integrate_from(&self.base.free.base, &mut self.base.change, input)?;
        self.base.contacts.note_loads(input.scene, &self.base.problem, &result.state.v, h);
        self.remember(input.scene, data);
        self.base.carry_spin(input, &mut result.state);
        let impulse = |row: usize| self.impulses[row];
        self.base.joint_rows.efforts_from(impulse, h, &mut result.efforts);
        result.set_contacts(self.base.contacts.active(), &self.net);
        result.times = times;
        result.missed = self.base.contacts.missed;
        result.wrong_friction = None;
        debug_assert_eq!(result.state.v.len(), model.nv(), "all velocities");
        result.report = StepReport {
            scheme: None,
            solver_iterations,
            solver_residual: solved.residual / self.options.solver.tolerance,
            solver_converged: solved.converged,
            solver_fallbacks: 0,
            friction_rounds,
            parts: 1,
            solves: 0,
            loads_behind: 0.0,
            inertial_share: 0.0,
            friction_at_centroids: false,
            friction_error: 0.0,
            faces: self.base.contacts.faces,
            faces_dropped: self.base.contacts.faces_dropped,
        };
        Ok(())
    }

    /// The rows of the joints, in their order, then those of the contacts and of the loop closures.
    fn add_rows(&mut self, input: &StepInput<'_>, data: &Data) -> Result<(), StepError> {
        let StepInput { scene, settings, .. } = input;
        let (model, h, law) = (scene.model(), settings.step(), self.options.solver.friction);
        let base = &self.base.problem;
        let Self { problem, faces, ends, memory, .. } = self;
        base.momentum_matrix.write_dense(&mut problem.mass);
        let reset = problem.rows.reset(base.blocks(), &problem.mass, &base.momentum);
        reset.map_err(|error| singular(model, input.time, error))?;
        problem.pairs.clear();
        problem.starts.clear();
        for row in &base.rows {
            problem.add_box_row(row);
        }
        // Rows that are not those of the last step have no known impulses
        if memory.joints().len() == base.rows.len() {
            problem.starts.extend(memory.joints().iter().copied().enumerate());
        }
        let angle = match law {
            FrictionLaw::Randomized { seed } => random_angle(seed, (input.time / h).round() as u64),
            _ => 0.0,
        };
        faces.clear();
        ends.clear();
        let active = self.base.contacts.active();
        for (number, block) in base.patches().iter().enumerate() {
            // The patches of loop closures come after those of contacts
            let contact = active.get(number).map(|active| (active, &scene.contact_pairs()[active.pair]));
            let patch = PatchInput {
                step: h,
                relaxation_time: contact.map_or(0.0, |(_, pair)| pair.material.relaxation_time),
                stiction_tolerance: settings.stiction_tolerance,
                spread: self.options.solver.has_exact_cone(),
            };
            let tangents = |point: &TangentInput| {
                let Some((active, pair)) = contact else {
                    let directions = [Vector3::x(), Vector3::y()];
                    return Tangents { directions, normal_before: 0.0, friction: Vector3::zeros() };
                };
                let X_WB = &data.X_WB[moving_body(scene, pair)];
                let known = memory.nearest(active.pair, &(active.p_WC + point.p_CF), X_WB);
                let inputs = DirectionInputs {
                    normal: point.normal,
                    slip: point.slip,
                    stiction_tolerance: settings.stiction_tolerance,
                    X_WB,
                    friction_before: known.map_or(Vector3::zeros(), |known| known.friction),
                    angle,
                };
                let normal_before = match (pair.kind, known) {
                    // Faces are cut anew in each step, and the nearest old one may be of another size
                    (ContactKind::PressureField, _) => {
                        let before = memory.normal_impulse(active.pair);
                        point.share * if before > 0.0 { before } else { point.impact_impulse }
                    }
                    // A point that was near and not loaded may land in this step
                    (ContactKind::Points, Some(known)) if known.normal_impulse > 0.0 => known.normal_impulse,
                    (ContactKind::Points, _) => point.impact_impulse,
                };
                Tangents { directions: directions(law, &inputs), normal_before, friction: inputs.friction_before }
            };
            problem.add_patch(block, &patch, tangents, faces);
            ends.push(faces.len());
        }
        Ok(())
    }

    /// Stores the impulses of the step for its result and for the next step.
    fn remember(&mut self, scene: &Scene, data: &Data) {
        self.net.clear();
        self.memory.clear();
        self.memory.set_joints(&self.impulses[..self.base.problem.rows.len()]);
        for number in 0..self.base.contacts.active().len() {
            let active = self.base.contacts.active()[number];
            let faces = &self.faces[self.start_of(number)..self.ends[number]];
            self.net.push(net_impulse(faces, &self.impulses));
            let pair = &scene.contact_pairs()[active.pair];
            let X_WB = &data.X_WB[moving_body(scene, pair)];
            let normal = |face: &FaceRows| face.normal_row.map_or(0.0, |row| self.impulses[row]);
            let sum = faces.iter().filter(|face| face.pushes).map(normal).sum();
            self.memory.push_pair(active.pair, sum);
            let mut largest = 0.0_f64;
            for face in faces {
                let normal_impulse = normal(face);
                largest = largest.max(normal_impulse);
                let known = |p_CF: &Vector3, friction: Vector3| {
                    let p_BoF_B = X_WB.inverse_transform_point(&(active.p_WC + p_CF).into()).coords;
                    KnownPoint { p_BoF_B, normal_impulse, friction }
                };
                if face.pushes && face.points().next().is_none() {
                    self.memory.push(known(&face.p_CF, Vector3::zeros()));
                }
                for point in face.points() {
                    self.memory.push(known(&point.p_CF, point.impulse(&self.impulses)));
                }
            }
            if pair.kind == ContactKind::Points {
                self.base.contacts.pairs.note_point_impulse(active.pair, largest);
            }
        }
    }

    /// The contact, joint or loop closure that the row `row` belongs to.
    fn element(&self, scene: &Scene, row: usize) -> String {
        if let Some(row) = self.base.problem.rows.get(row) {
            return format!("the joint '{}'", joint_of_dof(scene.model(), row.dof as usize));
        }
        for (number, active) in self.base.contacts.active().iter().enumerate() {
            let faces = &self.faces[self.start_of(number)..self.ends[number]];
            let is_own = |face: &FaceRows| {
                face.normal_row == Some(row) || face.points().any(|point| (point.row..point.row + 2).contains(&row))
            };
            if faces.iter().any(is_own) {
                let pair = &scene.contact_pairs()[active.pair];
                let [A, B] = [pair.A, pair.B].map(|geometry| &scene.geometries()[geometry].name);
                return format!("the contact of '{A}' and '{B}'");
            }
        }
        "a loop closure".to_owned()
    }

    fn start_of(&self, patch: usize) -> usize {
        if patch == 0 { 0 } else { self.ends[patch - 1] }
    }

    pub(in crate::stepping) fn face_forces(&self, number: usize, forces: &mut Vec<Vector3>) {
        let faces = &self.faces[self.start_of(number)..self.ends[number]];
        let h = self.base.problem.patches()[number].step();
        forces.clear();
        forces.extend(faces.iter().map(|face| face.impulse(&self.impulses) / h));
    }
}

/// The second body of a pair, or the first if the second is the world.
fn moving_body(scene: &Scene, pair: &ContactPair) -> BodyIndex {
    let [A, B] = [pair.A, pair.B].map(|geometry| scene.geometries()[geometry].body);
    if B == BodyIndex::WORLD { A } else { B }
}
