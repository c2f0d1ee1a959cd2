//! The geometric half of a step: the pairs that are near each other, and the surfaces or points at which they
//! touch.

use super::near_pairs::NearPairs;
use super::pair_memory::{Helper, Loads, Memories, PairMemory, Query};
use crate::contact::{mean_point, patch_point};
use crate::geometry::{
    Aabb, ContactSurface, FaceRepresentation, HydroelasticGeometry, PointContacts, RigidShape, RigidWorkspace,
};
use crate::math::{
    BodyIndex, ByteReader, ByteWriter, BytesError, GeometryIndex, Index, IndexVec, RigidTransform, SpatialVelocity,
    Vector3, rotation_vector,
};
use crate::multibody::Data;
use crate::scene::{CollisionGeometry, ContactPair, Scene};

/// A pair in contact, and its patch in the problem.
#[derive(Clone, Copy, Debug)]
pub(in crate::stepping) struct ActivePatch {
    /// Index in `Scene::contact_pairs`.
    pub(in crate::stepping) pair: usize,
    /// The patch point C [m, world].
    pub(in crate::stepping) p_WC: Vector3,
    /// The origins of the bodies A and B at the poses of the contact [m, world]: the lever arms of its forces
    /// reach from them to C.
    pub(in crate::stepping) p_WBo: [Vector3; 2],
}

/// The origins of the bodies A and B of a pair at the poses in `data` [m, world].
pub(in crate::stepping) fn origins(scene: &Scene, pair: &ContactPair, data: &Data) -> [Vector3; 2] {
    [pair.A, pair.B].map(|geometry| data.X_WB[scene.geometries()[geometry].body].translation.vector)
}

/// Velocity of B's surface relative to body B, minus that of A's surface relative to body A, at the poses in
/// `data` [m/s, world].
pub(in crate::stepping) fn surface_velocity(scene: &Scene, data: &Data, pair: &ContactPair) -> Vector3 {
    let of = |index: GeometryIndex| {
        let geometry = &scene.geometries()[index];
        let velocity_G = geometry.material.surface_velocity;
        if velocity_G == Vector3::zeros() {
            return velocity_G;
        }
        data.X_WB[geometry.body].rotation * (geometry.X_BG.rotation * velocity_G)
    };
    of(pair.B) - of(pair.A)
}

/// The geometries of a scene at their poses, and the contact of each pair.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct Pairs {
    pub(super) X_WG: IndexVec<GeometryIndex, RigidTransform>,
    boxes_W: IndexVec<GeometryIndex, Aabb>,
    /// The boxes, extended to later poses.
    swept_boxes_W: IndexVec<GeometryIndex, Aabb>,
    /// Bounds on the speeds of the points of each geometry [m/s].
    pub(super) speeds: IndexVec<GeometryIndex, f64>,
    pub(super) memory: Memories,
    /// The boxes, extended by the distances within which contact is searched.
    reaches_W: Vec<Aabb>,
    near: NearPairs,
    swept_pairs: NearPairs,
    /// Whether `near` has the pairs of a search.
    searched: bool,
    rigid_workspace: RigidWorkspace,
    /// One for each thread, if there are several.
    pub(super) helpers: Vec<Helper>,
    /// The number of answers of [`Pairs::find_ahead`] that were asked for.
    #[cfg(test)]
    pub(super) taken: usize,
    /// The memory of queries that must not change that of the step.
    spare: PairMemory,
}

impl Pairs {
    /// Moves all geometries to the poses in `data`.
    pub(in crate::stepping) fn update_poses(&mut self, scene: &Scene, data: &Data) {
        self.memory.resize(scene.contact_pairs().len());
        self.X_WG.clear();
        self.boxes_W.clear();
        for geometry in scene.geometries().iter() {
            let X_WG = data.X_WB[geometry.body] * geometry.X_BG;
            self.X_WG.push(X_WG);
            let bounds = geometry.hydroelastic.world_aabb(&X_WG);
            // A tessellation lies inside a round shape.
            self.boxes_W.push(geometry.rigid.as_ref().map_or(bounds, |rigid| bounds.union(&rigid.world_aabb(&X_WG))));
        }
    }

    /// The pairs whose boxes overlap at the poses in `data`; ascending. All pairs in small scenes.
    pub(in crate::stepping) fn with_boxes_that_overlap(&mut self, scene: &Scene, data: &Data) -> &[u32] {
        self.update_poses(scene, data);
        self.near.find(scene, self.boxes_W.as_slice(), std::iter::empty())
    }

    /// Whether the boxes of the two geometries are nearer than `distance` \[m\].
    pub(in crate::stepping) fn near(&self, pair: &ContactPair, distance: f64) -> bool {
        let (box_A, box_B) = (&self.boxes_W[pair.A], &self.boxes_W[pair.B]);
        let grown = Aabb { min: box_A.min.add_scalar(-distance), max: box_A.max.add_scalar(distance) };
        grown.overlaps(box_B)
    }

    /// A lower bound on the distance of the two geometries \[m\], at most zero if they may overlap.
    pub(in crate::stepping) fn gap(&self, pair: &ContactPair, scene: &Scene) -> f64 {
        let height = |half_space: GeometryIndex, other: GeometryIndex| {
            let shape = &scene.geometries()[half_space].hydroelastic;
            let planes =
                matches!(shape, HydroelasticGeometry::CompliantHalfSpace { .. } | HydroelasticGeometry::RigidHalfSpace);
            planes.then(|| {
                let (center, radius) = self.bounding_sphere(&scene.geometries()[other], other);
                let X_WH = &self.X_WG[half_space];
                (X_WH.rotation * Vector3::z()).dot(&(center - X_WH.translation.vector)) - radius
            })
        };
        if let Some(height) = height(pair.A, pair.B).or_else(|| height(pair.B, pair.A)) {
            return height;
        }
        let (box_A, box_B) = (&self.boxes_W[pair.A], &self.boxes_W[pair.B]);
        let apart = |a: &Aabb, b: &Aabb| (a.min - b.max).map(|gap| gap.max(0.0)).norm();
        apart(box_A, box_B).max(apart(box_B, box_A))
    }

    /// The surface of equal pressure of the last [`Pairs::find_surface`], and the list of its faces that the
    /// solver uses.
    pub(in crate::stepping) fn surface(&self, pair: usize) -> (&ContactSurface, &[u32]) {
        let PairMemory { surface, kept, .. } = self.memory.get(pair);
        (surface, kept)
    }

    /// The surface of equal pressure, and the list to be filled with its faces that the solver uses.
    pub(in crate::stepping) fn surface_mut(&mut self, pair: usize) -> (&ContactSurface, &mut Vec<u32>) {
        let PairMemory { surface, kept, .. } = self.memory.of(pair);
        (surface, kept)
    }

    /// The contact points of the last [`Pairs::find_points`].
    pub(in crate::stepping) fn points(&self, pair: usize) -> &PointContacts {
        &self.memory.get(pair).points
    }

    /// The contact points of a pair, which may be replaced.
    pub(in crate::stepping) fn points_mut(&mut self, pair: usize) -> &mut PointContacts {
        &mut self.memory.of(pair).points
    }

    /// Takes the normal impulse of the pair in the last step [N s], the largest of a point or the sum of a surface, and sets it to zero.
    pub(in crate::stepping) fn take_impulse(&mut self, pair: usize) -> f64 {
        self.memory.take_impulse(pair)
    }

    /// Sets the pressures of the surface from the elastic forces of its faces at the end of the step \[N\],
    /// in place of the pressures on the free path.
    pub(in crate::stepping) fn set_pressures(&mut self, pair: usize, forces: impl Iterator<Item = f64>) {
        let PairMemory { surface, kept, .. } = self.memory.of(pair);
        let mut before = None;
        for (face, force) in kept.iter().zip(forces) {
            if before.replace(*face) == Some(*face) {
                continue; // a friction part of the previous face
            }
            let i = *face as usize;
            let change = force / surface.area[i] - surface.pressure[i];
            surface.pressure[i] += change;
            let start = if i == 0 { 0 } else { surface.corner_ends[i - 1] as usize };
            for pressure in &mut surface.corner_pressure[start..surface.corner_ends[i] as usize] {
                *pressure = (*pressure + change).max(0.0);
            }
        }
    }

    /// Keeps the loads of the last step for [`Pairs::restore_loads`].
    pub(in crate::stepping) fn keep_loads(&mut self) {
        let near = self.searched.then_some(self.near.found());
        self.memory.begin(near);
    }

    /// Undoes all changes of the loads since [`Pairs::keep_loads`], because the step has failed.
    pub(in crate::stepping) fn restore_loads(&mut self) {
        self.memory.restore_loads();
    }

    /// Saves the loads of the last step as number 0 or 1.
    pub(in crate::stepping) fn save_loads(&mut self, number: usize) {
        self.memory.save_loads(number);
    }

    /// Returns to the loads of [`Pairs::save_loads`].
    pub(in crate::stepping) fn recall_loads(&mut self, number: usize) {
        self.memory.recall_loads(number);
    }

    /// Takes the elastic energy of the pair at the end of the last step \[J\], and sets it to zero; `None`
    /// before the first step.
    pub(in crate::stepping) fn take_energy(&mut self, pair: usize) -> Option<f64> {
        self.memory.of(pair).loads.energy.replace(0.0)
    }

    /// The loads of a pair that a step may change.
    pub(super) fn loads_mut(&mut self, pair: usize) -> &mut Loads {
        &mut self.memory.of(pair).loads
    }

    /// Stores the elastic energy of the pair at the end of a step \[J\].
    pub(in crate::stepping) fn note_energy(&mut self, pair: usize, energy: f64) {
        self.memory.of(pair).loads.energy = Some(energy);
    }

    /// Stores the normal impulse of the pair in a step [N s].
    pub(in crate::stepping) fn note_impulse(&mut self, pair: usize, impulse: f64) {
        self.memory.of(pair).loads.impulse = impulse;
    }

    /// Writes the data that the next step takes from the last one: the impulses of points and the elastic
    /// energies of surfaces.
    pub(in crate::stepping) fn write_memory(&self, writer: &mut ByteWriter) {
        self.memory.write(writer);
    }

    /// Reads the output of [`Pairs::write_memory`].
    pub(in crate::stepping) fn read_memory(
        &mut self,
        scene: &Scene,
        reader: &mut ByteReader<'_>,
    ) -> Result<(), BytesError> {
        self.memory.read(scene.contact_pairs().len(), reader)
    }

    /// Computes the surface of equal pressure of pair number `index`. Returns its patch point [m, world], or
    /// `None` if no face of it can push.
    pub(in crate::stepping) fn find_surface(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        faces: FaceRepresentation,
    ) -> Option<Vector3> {
        let memory = self.memory.of(index);
        if memory.answered.take() == Some(Query::Surface(faces)) {
            #[cfg(test)]
            {
                self.taken += 1;
            }
            return patch_point(&memory.surface);
        }
        let X_WG = (self.X_WG[pair.A], self.X_WG[pair.B]);
        self.find_surface_at(index, pair, scene, faces, &X_WG)
    }

    /// Does the same as [`Pairs::find_surface`] with the two geometries at the poses `X_WG`.
    pub(in crate::stepping) fn find_surface_at(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        faces: FaceRepresentation,
        (X_WA, X_WB): &(RigidTransform, RigidTransform),
    ) -> Option<Vector3> {
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let memory = self.memory.of(index);
        memory.find(Query::Surface(faces), (a, X_WA), (b, X_WB), &mut self.rigid_workspace);
        patch_point(&memory.surface)
    }

    /// Calls `query` with the memory of pair number `index` replaced, so that its surface stays.
    pub(in crate::stepping) fn with_spare_memory<T>(&mut self, index: usize, query: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(self.memory.of(index), &mut self.spare);
        let result = query(self);
        std::mem::swap(self.memory.of(index), &mut self.spare);
        result
    }

    /// Bound on the distance by which points of the two geometries come nearer to each other on the way from
    /// the poses in `from` to those in `to` \[m\].
    pub(in crate::stepping) fn approach(&self, pair: &ContactPair, scene: &Scene, from: &Data, to: &Data) -> f64 {
        let sphere = |index: GeometryIndex| self.bounding_sphere(&scene.geometries()[index], index);
        let (sphere_A, sphere_B) = (sphere(pair.A), sphere(pair.B));
        let (center, radius) = if sphere_A.1 < sphere_B.1 { sphere_A } else { sphere_B };
        // The displacement of the centre with the body, and the turn
        let way = |index: GeometryIndex| {
            let geometry = &scene.geometries()[index];
            let p_GC = self.X_WG[index].inverse_transform_point(&center.into());
            let [before, after] = [from, to].map(|data| data.X_WB[geometry.body]);
            let [p, p_after] = [before, after].map(|X_WB| X_WB * geometry.X_BG * p_GC);
            (p_after - p, after.rotation * before.rotation.inverse())
        };
        let ((moved_A, turn_A), (moved_B, turn_B)) = (way(pair.A), way(pair.B));
        let turn = rotation_vector(&(turn_B * turn_A.inverse())).norm();
        (moved_B - moved_A).norm() + if turn > 0.0 { turn * radius } else { 0.0 }
    }

    /// Extends the box of each geometry to its pose in `later`, for [`Pairs::swept_boxes_overlap`].
    pub(in crate::stepping) fn sweep_boxes(&mut self, scene: &Scene, later: &Data) {
        self.swept_boxes_W.clear();
        for (geometry, box_W) in scene.geometries().iter().zip(self.boxes_W.iter()) {
            let X_WG = later.X_WB[geometry.body] * geometry.X_BG;
            let bounds = geometry.hydroelastic.world_aabb(&X_WG);
            let bounds = geometry.rigid.as_ref().map_or(bounds, |rigid| bounds.union(&rigid.world_aabb(&X_WG)));
            self.swept_boxes_W.push(box_W.union(&bounds));
        }
    }

    /// Extends the boxes of [`Pairs::sweep_boxes`] to the poses in `later` too.
    pub(in crate::stepping) fn extend_swept_boxes(&mut self, scene: &Scene, later: &Data) {
        for (geometry, box_W) in scene.geometries().iter().zip(self.swept_boxes_W.iter_mut()) {
            let X_WG = later.X_WB[geometry.body] * geometry.X_BG;
            *box_W = box_W.union(&geometry.hydroelastic.world_aabb(&X_WG));
            if let Some(rigid) = &geometry.rigid {
                *box_W = box_W.union(&rigid.world_aabb(&X_WG));
            }
        }
    }

    /// Grows the boxes of [`Pairs::sweep_boxes`] by a part of their size, if they are finite.
    pub(in crate::stepping) fn grow_swept_boxes(&mut self, part: f64) {
        for box_W in self.swept_boxes_W.iter_mut() {
            let size = 2.0 * box_W.half_extents().norm();
            if size.is_finite() {
                *box_W = box_W.grown(part * size);
            }
        }
    }

    /// The pairs whose boxes of the last [`Pairs::sweep_boxes`] may overlap; the caller gives the list back.
    pub(in crate::stepping) fn take_swept_pairs(&mut self, scene: &Scene) -> Vec<u32> {
        let boxes = self.swept_boxes_W.as_slice();
        self.swept_pairs.find(scene, boxes, std::iter::empty());
        std::mem::take(self.swept_pairs.found_mut())
    }

    /// Takes back the list of [`Pairs::take_swept_pairs`], whose memory is reused.
    pub(in crate::stepping) fn return_swept_pairs(&mut self, list: Vec<u32>) {
        *self.swept_pairs.found_mut() = list;
    }

    /// The pairs that may touch in a step of length `step` \[s\], and those of `more`; ascending. Each
    /// geometry reaches as far as its speed ([`Pairs::bound_speeds`]) takes it, and by step^2 `acceleration`
    /// \[m/s2\] farther. All other pairs lose their loads, with `fields` also those of surfaces.
    /// The caller gives the list back.
    pub(in crate::stepping) fn select(
        &mut self,
        scene: &Scene,
        (step, acceleration): (f64, f64),
        fields: bool,
        more: impl Iterator<Item = u32>,
    ) -> Vec<u32> {
        self.reaches_W.clear();
        let reaches = self.boxes_W.iter().zip(self.speeds.iter()).map(|(bounds, speed)| {
            let reach = REACH_ROUNDING * step * (speed + step * acceleration);
            // A half space that moves has no largest speed
            if reach.is_finite() { bounds.grown(reach) } else { Aabb::EVERYTHING }
        });
        self.reaches_W.extend(reaches);
        self.near.find(scene, &self.reaches_W, more);
        if NearPairs::is_used(scene) {
            self.searched = true;
            self.memory.clear_loads(self.near.found(), fields);
        }
        std::mem::take(self.near.found_mut())
    }

    /// Whether the two geometries were near each other in the last [`Pairs::select`], which may select all.
    pub(super) fn may_touch(&self, pair: &ContactPair) -> bool {
        self.reaches_W[pair.A.to_usize()].overlaps(&self.reaches_W[pair.B.to_usize()])
    }

    /// Ends a step whose loads are stored.
    pub(in crate::stepping) fn end_step(&mut self) {
        self.memory.end();
    }

    /// Takes back the list of [`Pairs::select`], whose memory is reused.
    pub(in crate::stepping) fn give_back(&mut self, list: Vec<u32>) {
        *self.near.found_mut() = list;
    }

    /// Whether the boxes of the last [`Pairs::sweep_boxes`] overlap.
    pub(in crate::stepping) fn swept_boxes_overlap(&self, pair: &ContactPair) -> bool {
        self.swept_boxes_W[pair.A].overlaps(&self.swept_boxes_W[pair.B])
    }

    /// Whether the boxes of the two geometries overlap, if each box contains the present pose and that in
    /// `X_WG`.
    pub(in crate::stepping) fn boxes_swept_to_overlap(
        &self,
        pair: &ContactPair,
        scene: &Scene,
        X_WG: &(RigidTransform, RigidTransform),
    ) -> bool {
        let way = |index: GeometryIndex, X_WG: &RigidTransform| {
            self.boxes_W[index].union(&scene.geometries()[index].hydroelastic.world_aabb(X_WG))
        };
        way(pair.A, &X_WG.0).overlaps(&way(pair.B, &X_WG.1))
    }

    /// Whether the boxes of the rigid pair number `index` are at least `distance` \[m\] apart; it then has no
    /// points.
    pub(in crate::stepping) fn is_far(&mut self, index: usize, pair: &ContactPair, distance: f64) -> bool {
        let far = !self.near(pair, distance);
        if far {
            self.memory.clear_points(index);
        }
        far
    }

    /// Finds the points where the rigid pair number `index` is nearer than `detection` \[m\]. Returns their
    /// mean [m, world], or `None` if there are none.
    pub(in crate::stepping) fn find_points(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        detection: f64,
    ) -> Option<Vector3> {
        if self.is_far(index, pair, detection) {
            return None;
        }
        let memory = self.memory.of(index);
        if memory.answered.take() == Some(Query::Points(detection)) {
            #[cfg(test)]
            {
                self.taken += 1;
            }
            return mean_point(&memory.points);
        }
        let X_WG = (self.X_WG[pair.A], self.X_WG[pair.B]);
        self.find_points_at(index, pair, scene, detection, &X_WG)
    }

    /// Finds the points where the rigid pair number `index` is nearer than `detection` \[m\] at the poses
    /// `X_WG` of its two geometries. Returns their mean [m, world], or `None` if there are none.
    pub(in crate::stepping) fn find_points_at(
        &mut self,
        index: usize,
        pair: &ContactPair,
        scene: &Scene,
        detection: f64,
        (X_WA, X_WB): &(RigidTransform, RigidTransform),
    ) -> Option<Vector3> {
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        if a.rigid.is_none() || b.rigid.is_none() {
            return None;
        }
        let memory = self.memory.of(index);
        memory.find(Query::Points(detection), (a, X_WA), (b, X_WB), &mut self.rigid_workspace);
        mean_point(&memory.points)
    }

    /// Replaces the distances of the points of pair number `index`, which belong to poses that its bodies
    /// reach after `time` \[s\] with the relative velocity `V` at `p_WC`, by those from which this velocity
    /// leads to them.
    pub(in crate::stepping) fn take_back_distances(
        &mut self,
        index: usize,
        p_WC: &Vector3,
        V: &SpatialVelocity,
        time: f64,
    ) {
        let PointContacts { p_WC: positions, normal, phi } = &mut self.memory.of(index).points;
        for ((p_WF, normal), phi) in positions.iter().zip(normal).zip(phi) {
            *phi -= time * normal.dot(&V.shift(&(p_WF - p_WC)).v);
        }
    }

    /// Bounds the speeds of the points of each geometry at the velocities in `data`, for
    /// [`Pairs::speed_bound`].
    pub(in crate::stepping) fn bound_speeds(&mut self, scene: &Scene, data: &Data) {
        let mut speeds = std::mem::take(&mut self.speeds);
        speeds.clear();
        for (number, geometry) in scene.geometries().iter().enumerate() {
            let (center, radius) = self.bounding_sphere(geometry, GeometryIndex::from_usize(number));
            let V = &data.V_WB[geometry.body];
            if *V == SpatialVelocity::ZERO {
                speeds.push(0.0); // the centre of a half space is not finite
                continue;
            }
            let spin = V.w.norm();
            let at_center = V.shift(&(center - data.X_WB[geometry.body].translation.vector)).v.norm();
            speeds.push(at_center + if spin > 0.0 { spin * radius } else { 0.0 });
        }
        self.speeds = speeds;
    }

    /// Raises the bounds of [`Pairs::bound_speeds`] to the mean speeds at which the geometries reach their
    /// poses in `later` within `step` \[s\].
    pub(in crate::stepping) fn raise_speed_bounds(&mut self, scene: &Scene, later: &Data, step: f64) {
        let mut speeds = std::mem::take(&mut self.speeds);
        for ((number, geometry), speed) in scene.geometries().iter().enumerate().zip(speeds.iter_mut()) {
            if geometry.body == BodyIndex::WORLD {
                continue; // the centre of a half space is not finite
            }
            let index = GeometryIndex::from_usize(number);
            let (center, radius) = self.bounding_sphere(geometry, index);
            let (X_WG, X_WG_later) = (&self.X_WG[index], later.X_WB[geometry.body] * geometry.X_BG);
            let moved = X_WG_later * X_WG.inverse_transform_point(&center.into()) - center;
            let turn = rotation_vector(&(X_WG_later.rotation * X_WG.rotation.inverse())).norm();
            let way = moved.coords.norm() + turn * radius;
            if way.is_finite() {
                *speed = speed.max(way / step);
            }
        }
        self.speeds = speeds;
    }

    /// Bound on the speed at which points of the two geometries approach each other [m/s], from the last
    /// [`Pairs::bound_speeds`]. It is usually larger than [`Pairs::approach_speed`], but costs only one
    /// addition.
    pub(in crate::stepping) fn speed_bound(&self, pair: &ContactPair) -> f64 {
        self.speeds[pair.A] + self.speeds[pair.B]
    }

    /// Bound on the speed at which points of the two geometries approach each other at the velocities in
    /// `data` [m/s].
    pub(in crate::stepping) fn approach_speed(&self, pair: &ContactPair, scene: &Scene, data: &Data) -> f64 {
        let sphere = |index: GeometryIndex| {
            let geometry = &scene.geometries()[index];
            (geometry.body, self.bounding_sphere(geometry, index))
        };
        approach_speed(sphere(pair.A), sphere(pair.B), data)
    }

    /// Radius of a sphere around the smaller of the two geometries \[m\].
    pub(in crate::stepping) fn smaller_radius(&self, pair: &ContactPair, scene: &Scene) -> f64 {
        let radius = |index: GeometryIndex| self.bounding_sphere(&scene.geometries()[index], index).1;
        radius(pair.A).min(radius(pair.B))
    }

    /// Centre of a sphere around a geometry [m, world], and its radius \[m\].
    fn bounding_sphere(&self, geometry: &CollisionGeometry, index: GeometryIndex) -> (Vector3, f64) {
        match &geometry.rigid {
            Some(rigid) => RigidShape::bounding_sphere_W(rigid, &self.X_WG[index]),
            None => {
                let bounds = &self.boxes_W[index];
                (bounds.center(), bounds.half_extents().norm())
            }
        }
    }
}

/// The reach of a geometry is larger by this factor, so that rounding hides no pair [-].
const REACH_ROUNDING: f64 = 1.0 + 1e-6;

/// Bound on the speed at which points of two bodies approach each other within the smaller of their spheres
/// [m/s]. Each argument is (body, (centre, radius)).
fn approach_speed(
    (body_A, sphere_A): (BodyIndex, (Vector3, f64)),
    (body_B, sphere_B): (BodyIndex, (Vector3, f64)),
    data: &Data,
) -> f64 {
    let (center, radius) = if sphere_A.1 < sphere_B.1 { sphere_A } else { sphere_B };
    let velocity =
        |body: BodyIndex| -> SpatialVelocity { data.V_WB[body].shift(&(center - data.X_WB[body].translation.vector)) };
    let (V_A, V_B) = (velocity(body_A), velocity(body_B));
    let spin = (V_B.w - V_A.w).norm();
    (V_B.v - V_A.v).norm() + if spin > 0.0 { spin * radius } else { 0.0 }
}

/// The poses of the two geometries of a pair, for the poses of the bodies in `data`.
pub(super) fn poses(scene: &Scene, pair: &ContactPair, data: &Data) -> (RigidTransform, RigidTransform) {
    let pose = |index: GeometryIndex| {
        let geometry = &scene.geometries()[index];
        data.X_WB[geometry.body] * geometry.X_BG
    };
    (pose(pair.A), pose(pair.B))
}
