//! The joints of a quasistatic step: impedances, inertia of unactuated joints, limits and dry friction.

use std::ops::Range;

use crate::math::{ByteReader, ByteWriter, BytesError};
use crate::multibody::{Data, Joint, Model, State, weight_stiffness};
use crate::scene::{Actuator, Scene};
use crate::solvers::BoxRow;
use crate::solvers::quasistatic::{QuasistaticProblem, VelocityBound};
use crate::stepping::command::JointTarget;
use crate::stepping::input::StepStart;
use crate::stepping::joint_rows::friction_row;
use crate::stepping::settings::UnactuatedInertia;

/// The origin of an actuator's effort, as a function of the joint's rate u at the end of the step.
#[derive(Clone, Copy, Debug)]
enum EffortSource {
    /// at_rest - rate u, within +- limit.
    Impedance { joint: usize, at_rest: f64, rate: f64, limit: f64 },
    /// The effort `at_rest` within +- the limit.
    Constant { at_rest: f64, limit: f64 },
}

/// How an actuator acts at the weights of the start of an iteration of the loads, for the model of the loads
/// (weight_model.rs).
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    pub(super) dof: usize,
    /// Rate of the joint per unit of its generalized velocity [-].
    pub(super) ratio: f64,
    /// The effort without motion [N m] or \[N\].
    pub(super) at_rest: f64,
    /// The loss of effort with the joint's rate [N m s/rad] or [N s/m].
    pub(super) rate: f64,
    pub(super) limit: f64,
    /// Its row in the problem, if it has one.
    pub(super) row: Option<usize>,
    /// Whether `at_rest` contains minus the force of gravity.
    pub(super) compensates: bool,
}

impl Drive {
    /// The effort at the velocity `v` of the degree of freedom, with `change` added at rest.
    pub(super) fn effort(&self, v: f64, change: f64) -> f64 {
        (self.at_rest + change - self.rate * self.ratio * v).clamp(-self.limit, self.limit)
    }
    /// The same actuator with a fraction `soft` of its stiffness less, with the same effort at the velocity
    /// `center` of the degree of freedom.
    pub(super) fn softened(&self, soft: f64, center: f64) -> Self {
        let lost = soft * self.rate;
        Self { at_rest: self.at_rest - lost * self.ratio * center, rate: self.rate - lost, ..*self }
    }
    /// Whether the effort is below its limit at the velocity `v` of the degree of freedom.
    pub(super) fn is_free(&self, v: f64) -> bool {
        (self.at_rest - self.rate * self.ratio * v).abs() < self.limit
    }
}

/// The impedances of the present step, and the positions that hold until new ones are commanded.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct Impedances {
    /// The position that each joint's impedance pulls towards, in the order of `Scene::joint_names` \[rad\]
    /// or \[m\].
    targets: Vec<f64>,
    sources: Vec<EffortSource>,
    /// Whether an impedance or a damper of an actuator holds a velocity, by degree of freedom.
    actuated: Vec<bool>,
    bounds: Vec<(f64, f64)>,
    /// (degree of freedom, ratio) of each joint.
    rates: Vec<(usize, f64)>,
    /// The scale of M_u in Q, by tree [-].
    scales: Vec<f64>,
    /// The stiffness of the weights that passive joints carry, by degree of freedom [N/m] or [N m/rad].
    weights: Vec<f64>,
    /// Whether the weight along a degree of freedom is that of the end of the step.
    follows: Vec<bool>,
    /// The row of each joint's actuator in the problem, and whether it compensates gravity.
    rows: Vec<(Option<usize>, bool)>,
}

/// The resistance of unactuated joints and free bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct InertiaLaw {
    pub(super) kind: UnactuatedInertia,
    /// The number of parts in which the step is taken. In each part, the force at a given velocity is that of
    /// the whole step.
    pub(super) parts: u32,
}

impl InertiaLaw {
    /// The scale of a tree's mass matrix in Q [-]. `heaviest` is the largest diagonal entry of the matrix
    /// over unactuated velocities, and `softest` the result of [`Impedances::softest`].
    fn scale(self, h: f64, heaviest: f64, softest: f64) -> f64 {
        let parts = f64::from(self.parts);
        match self.kind {
            UnactuatedInertia::None => 0.0,
            UnactuatedInertia::Mass => 1.0 / parts,
            UnactuatedInertia::Drag { time_constant } => (h / time_constant).min(1.0 / parts),
            UnactuatedInertia::Scaled { divisor } if heaviest > 0.0 && softest.is_finite() => {
                parts * h * softest / (divisor * heaviest)
            }
            UnactuatedInertia::Scaled { .. } => 1.0 / parts,
        }
    }
}

/// The data of one joint from which the rows are made.
struct ScalarJoint<'a> {
    joint: &'a Joint,
    dof: usize,
    /// Rate of the joint per unit of its generalized velocity [-].
    ratio: f64,
    q: f64,
    /// Step h \[s\].
    h: f64,
}

impl Impedances {
    /// Impedances before the first command: each joint is held at its initial position.
    pub(super) fn new(scene: &Scene, initial: &State) -> Self {
        let joints = scene.model().joints();
        let start = |index| joints[index].position(&initial.q).unwrap_or(0.0);
        Self { targets: scene.joints().iter().map(|index| start(*index)).collect(), ..Self::default() }
    }

    /// The positions that hold until new ones are commanded \[rad\] or \[m\].
    pub(in crate::stepping) fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Sets the positions that hold until new ones are commanded.
    pub(in crate::stepping) fn hold(&mut self, targets: &[f64]) {
        self.targets.copy_from_slice(targets);
    }

    /// Sets one of them; without effect if there is no such joint or the position is not finite.
    pub(super) fn hold_position(&mut self, joint: usize, position: f64) {
        if let Some(target) = self.targets.get_mut(joint).filter(|_| position.is_finite()) {
            *target = position;
        }
    }

    /// Writes the positions that hold until new ones are commanded.
    pub(super) fn write_memory(&self, writer: &mut ByteWriter) {
        writer.numbers(&self.targets);
    }

    /// Reads the output of [`Impedances::write_memory`].
    pub(super) fn read_memory(&mut self, reader: &mut ByteReader<'_>) -> Result<(), BytesError> {
        self.targets = reader.numbers_of(self.targets.len())?;
        Ok(())
    }

    /// The change of the actuators' effort with a generalized velocity [N s/m] or [N m s/rad].
    pub(super) fn rate(&self, dof: usize) -> f64 {
        let of_joint = |(source, (of, ratio)): (&EffortSource, &(usize, f64))| match source {
            EffortSource::Impedance { rate, .. } if *of == dof => rate * ratio * ratio,
            _ => 0.0,
        };
        self.sources.iter().zip(&self.rates).map(of_joint).sum()
    }

    /// Whether the efforts that do not depend on the motion are held at the same limits as in `other`.
    pub(super) fn has_limits_of(&self, other: &Self) -> bool {
        let side = |source: &EffortSource| match source {
            EffortSource::Constant { at_rest, limit } => i8::from(*at_rest > *limit) - i8::from(*at_rest < -limit),
            EffortSource::Impedance { .. } => 0,
        };
        self.sources.iter().map(side).eq(other.sources.iter().map(side))
    }

    /// Whether an actuator holds the velocity, by degree of freedom.
    pub(super) fn actuated(&self) -> &[bool] {
        &self.actuated
    }

    /// Assembles Q = blkdiag(M_u, h^2 K_a), b = h (tau_u; K_a dq_cmd + tau_a), springs, limits and friction,
    /// from the mass matrix and the gravity forces in `data`. tau_u includes the external forces.
    pub(super) fn assemble(
        &mut self,
        scene: &Scene,
        inertia: InertiaLaw,
        stiction_tolerance: f64,
        start: &StepStart<'_>,
        data: &Data,
        problem: &mut QuasistaticProblem,
    ) {
        let model = scene.model();
        let (n, h) = (model.nv(), problem.step);
        self.sources.clear();
        self.rates.clear();
        self.rows.clear();
        self.actuated.clear();
        self.actuated.resize(n, false);
        self.bounds.clear();
        self.bounds.resize(n, (f64::NEG_INFINITY, f64::INFINITY));
        for ((b, gravity), external) in problem.linear.iter_mut().zip(&data.gravity).zip(start.external) {
            *b = h * (gravity + external);
        }
        for (position, index) in scene.joints().iter().enumerate() {
            let joint = &model.joints()[*index];
            let scalar = ScalarJoint {
                joint,
                dof: joint.v_start,
                ratio: joint.mimic.map_or(1.0, |mimic| mimic.multiplier),
                q: joint.position(&start.state.q).unwrap_or(0.0),
                h,
            };
            // The spring at the end of the step
            let (spring, ratio) = (&joint.spring, scalar.ratio);
            problem.quadratic[scalar.dof * n + scalar.dof] += h * h * spring.stiffness * ratio * ratio;
            problem.linear[scalar.dof] += h * spring.stiffness * (spring.reference - scalar.q) * ratio;
            let target = start.command.targets.as_slice().get(position).copied().unwrap_or_default();
            let held = target.position.unwrap_or(self.targets[position]);
            let gravity = if joint.mimic.is_some() { 0.0 } else { data.gravity[scalar.dof] };
            let (actuator, before) = (&scene.actuators()[position], problem.rows.len());
            let source = scalar.actuator(actuator, &target, held, gravity, position, problem);
            let row = (problem.rows.len() > before).then_some(before);
            self.rows.push((row, actuator.gravity_compensation && joint.mimic.is_none()));
            self.actuated[scalar.dof] |= matches!(source, EffortSource::Impedance { .. });
            self.sources.push(source);
            self.rates.push((scalar.dof, scalar.ratio));
            if joint.friction > 0.0 {
                problem.rows.push(friction_row(joint, scalar.ratio, h, stiction_tolerance));
            }
            scalar.limit(&mut self.bounds[scalar.dof]);
        }
        for (dof, (lower, upper)) in self.bounds.iter().enumerate() {
            if lower.is_finite() || upper.is_finite() {
                problem.bounds.push(VelocityBound { dof: dof as u32, lower: *lower, upper: *upper });
            }
        }
        self.add_damping(model, problem);
        self.add_weights(model, data, problem);
        self.find_followers(scene);
        self.add_inertia(model, inertia, data, problem);
    }

    /// Adds h d of the dampers of passive joints. The dampers of actuated joints are left out.
    fn add_damping(&self, model: &Model, problem: &mut QuasistaticProblem) {
        let n = model.nv();
        for dof in (0..n).filter(|dof| !self.actuated[*dof]) {
            problem.quadratic[dof * n + dof] += problem.step * model.dof_damping()[dof];
        }
    }

    /// Adds h^2 K for the weights that passive joints carry ([`weight_stiffness`]). The torque of a weight
    /// changes within the step: if it were constant, a pendulum would swing farther in each step.
    fn add_weights(&mut self, model: &Model, data: &Data, problem: &mut QuasistaticProblem) {
        let Self { actuated, weights, .. } = self;
        weights.clear();
        weights.resize(model.nv(), 0.0);
        weight_stiffness(model, data, |dof| !actuated[dof], weights);
        let (n, h) = (problem.size(), problem.step);
        for (dof, stiffness) in weights.iter().enumerate() {
            problem.quadratic[dof * n + dof] += h * h * stiffness;
        }
    }

    /// Finds the joints whose weights are those of the end of the step: joints of closures, and those with
    /// the
    /// stiffness of an actuator or a spring.
    fn find_followers(&mut self, scene: &Scene) {
        let Self { weights, follows, .. } = self;
        let (joints, closes) = (scene.model().joints(), !scene.closures().is_empty());
        follows.clear();
        follows.resize(weights.len(), false);
        for (index, actuator) in scene.joints().iter().zip(scene.actuators()) {
            let joint = &joints[*index];
            follows[joint.v_start] |= closes || actuator.stiffness > 0.0 || joint.spring.stiffness > 0.0;
        }
    }

    /// Whether the weight is that of the end of the step, by degree of freedom.
    pub(super) fn follows(&self) -> &[bool] {
        &self.follows
    }

    /// The actuators of this assembly.
    pub(super) fn drives(&self) -> impl Iterator<Item = Drive> + '_ {
        let each = self.sources.iter().zip(&self.rates).zip(&self.rows);
        each.map(|((source, (dof, ratio)), (row, compensates))| {
            let (at_rest, rate, limit) = match *source {
                EffortSource::Impedance { at_rest, rate, limit, .. } => (at_rest, rate, limit),
                EffortSource::Constant { at_rest, limit } => (at_rest, 0.0, limit),
            };
            let (dof, ratio, row, compensates) = (*dof, *ratio, *row, *compensates);
            Drive { dof, ratio, at_rest, rate, limit, row, compensates }
        })
    }

    /// Adds what `changes` of gravity, by degree of freedom, add to the efforts that compensate it.
    pub(super) fn compensate(&mut self, changes: &[f64]) {
        let each = self.sources.iter_mut().zip(&self.rates).zip(&self.rows);
        for ((source, (dof, _)), _) in each.filter(|(_, (_, compensates))| *compensates) {
            let (EffortSource::Impedance { at_rest, .. } | EffortSource::Constant { at_rest, .. }) = source;
            *at_rest -= changes[*dof];
        }
    }

    /// The stiffness of the weights in Q, by degree of freedom [N/m] or [N m/rad].
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Adds M_u times the scale of each tree.
    fn add_inertia(&mut self, model: &Model, inertia: InertiaLaw, data: &Data, problem: &mut QuasistaticProblem) {
        let (n, h, softest) = (model.nv(), problem.step, self.softest());
        let actuated = &self.actuated;
        self.scales.clear();
        self.scales.extend(model.trees().iter().map(|tree| {
            let free = tree.clone().filter(|dof| !actuated[*dof]);
            inertia.scale(h, free.map(|dof| data.M.diagonal(dof)).fold(0.0, f64::max), softest)
        }));
        if matches!(inertia.kind, UnactuatedInertia::Drag { .. }) {
            problem.light.extend((0..n).filter(|dof| !actuated[*dof]).map(|dof| dof as u32));
        }
        for (tree, scale) in model.trees().iter().zip(&self.scales).filter(|(_, scale)| **scale > 0.0) {
            self.add_tree_mass(tree.clone(), *scale, data, problem);
        }
    }

    /// The scale of M_u in Q, by tree [-].
    pub(super) fn inertia_scales(&self) -> &[f64] {
        &self.scales
    }

    /// Adds M_u times `scale`.
    pub(super) fn add_mass(&self, model: &Model, scale: f64, data: &Data, problem: &mut QuasistaticProblem) {
        for tree in model.trees() {
            self.add_tree_mass(tree.clone(), scale, data, problem);
        }
    }

    fn add_tree_mass(&self, tree: Range<usize>, scale: f64, data: &Data, problem: &mut QuasistaticProblem) {
        let n = problem.size();
        let free = |dof: &usize| !self.actuated[*dof];
        for i in tree.clone().filter(free) {
            for j in tree.clone().filter(free) {
                problem.quadratic[i * n + j] += scale * data.M[(i, j)];
            }
        }
    }

    /// The smallest h K_a of the actuated joints, or D of those that only have damping [N s/m] or [N m
    /// s/rad]; infinite if no joint is actuated.
    fn softest(&self) -> f64 {
        let rate = |source: &EffortSource| match source {
            EffortSource::Impedance { rate, .. } => *rate,
            EffortSource::Constant { .. } => f64::INFINITY,
        };
        self.sources.iter().map(rate).fold(f64::INFINITY, f64::min)
    }

    /// Writes to `v` the velocities at which the impedances would reach their targets without contact.
    pub(super) fn expect(&self, v: &mut [f64]) {
        for source in &self.sources {
            if let EffortSource::Impedance { joint, at_rest, rate, .. } = source {
                let (dof, ratio) = self.rates[*joint];
                if ratio != 0.0 {
                    v[dof] = at_rest / (rate * ratio);
                }
            }
        }
    }

    /// Stores the targets of a successful step, which hold from now on.
    pub(super) fn keep(&mut self, targets: &[JointTarget]) {
        for (held, target) in self.targets.iter_mut().zip(targets) {
            *held = target.position.unwrap_or(*held);
        }
    }

    /// Computes the efforts of the actuators over the step that ended with the velocities `v` [N m] or \[N\].
    pub(super) fn efforts(&self, v: &[f64], efforts: &mut Vec<f64>) {
        efforts.clear();
        efforts.extend(self.sources.iter().map(|source| match source {
            EffortSource::Constant { at_rest, limit } => at_rest.clamp(-limit, *limit),
            EffortSource::Impedance { joint, at_rest, rate, limit } => {
                let (dof, ratio) = self.rates[*joint];
                (at_rest - rate * ratio * v[dof]).clamp(-limit, *limit)
            }
        }));
    }
}

impl ScalarJoint<'_> {
    /// The impedance K (q_cmd - q - h u) + tau at the end of the step. An actuator without stiffness is a
    /// damper that pulls towards its velocity command. Without damping, too, it applies efforts only.
    fn actuator(
        &self,
        actuator: &Actuator,
        target: &JointTarget,
        held: f64,
        gravity: f64,
        position: usize,
        problem: &mut QuasistaticProblem,
    ) -> EffortSource {
        let (n, h, limit) = (problem.size(), self.h, actuator.effort_limit);
        let compensation = if actuator.gravity_compensation { -gravity } else { 0.0 };
        let forward = target.effort.unwrap_or(0.0) + compensation;
        let (rate, at_rest) = if actuator.stiffness > 0.0 {
            (h * actuator.stiffness, actuator.stiffness * (held - self.q) + forward)
        } else {
            (actuator.damping, actuator.damping * target.velocity.unwrap_or(0.0) + forward)
        };
        if rate == 0.0 {
            problem.linear[self.dof] += h * self.ratio * at_rest.clamp(-limit, limit);
            return EffortSource::Constant { at_rest, limit };
        }
        if limit.is_finite() {
            problem.rows.push(BoxRow {
                dof: self.dof as u32,
                coefficient: self.ratio,
                target: at_rest / rate,
                regularization: 1.0 / (h * rate),
                lower: -h * limit,
                upper: h * limit,
            });
        } else {
            problem.quadratic[self.dof * n + self.dof] += h * rate * self.ratio * self.ratio;
            problem.linear[self.dof] += h * at_rest * self.ratio;
        }
        EffortSource::Impedance { joint: position, at_rest, rate, limit }
    }

    /// Narrows the bounds on the velocity so that the joint ends the step within its limits.
    fn limit(&self, (lower, upper): &mut (f64, f64)) {
        let limits = &self.joint.limits;
        if self.ratio == 0.0 {
            return; // a mimic joint that never moves
        }
        let ends = [(limits.lower - self.q) / (self.h * self.ratio), (limits.upper - self.q) / (self.h * self.ratio)];
        *lower = lower.max(ends[0].min(ends[1]));
        *upper = upper.min(ends[0].max(ends[1]));
    }
}
