//! The tree in the order of the algorithms: links are maximal groups of welded bodies, numbered outwards from
//! the world.

use std::ops::Range;

use super::body::Body;
use super::error::ModelError;
use super::joint::{Joint, JointKind, planar_basis};
use crate::math::{
    BodyIndex, DofIndex, Index, IndexVec, JointIndex, RigidTransform, Rotation, SpatialInertia, Vector3,
};

/// A group of welded bodies that one moving joint carries. Link 0 is the world and the bodies welded to it.
/// The frame of link L is that of the body B that the joint carries.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The number of the link P that carries it, smaller than its own.
    pub(super) parent: usize,
    /// The kind of its joint.
    pub(super) kind: JointKind,
    /// Orientation of the joint frame in link P.
    pub(super) R_PF: Rotation,
    /// Origin of the joint frame in link P \[m\].
    pub(super) p_PF: Vector3,
    /// Axis in F.
    pub(super) axis_F: Vector3,
    /// Basis of a planar joint in F.
    pub(super) plane_F: (Vector3, Vector3),
    /// Its columns in `Data::S`.
    pub(super) columns: Range<usize>,
    /// The start of its (or its leader's) coordinates.
    pub(super) q_start: usize,
    /// q = multiplier q_leader + offset; (1, 0) unless it is a mimic.
    pub(super) mimic: (f64, f64),
    /// Inertia of all its bodies about its origin, in its axes.
    pub(super) inertia: SpatialInertia,
    /// The columns between the world and this link, in order, its own included.
    pub(super) path: Vec<PathColumn>,
    /// The dofs of these columns, sorted.
    pub(super) dofs: Vec<DofIndex>,
    /// The first link of its tree, if a floating or planar joint carries that on the world.
    pub(super) base: Option<usize>,
}

/// A column on the path from the world to a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathColumn {
    /// The index of the column.
    pub(super) column: usize,
    /// The index of its dof among the link's dofs.
    pub(super) slot: usize,
}

/// A free body: a link that floats in the world, without children.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeLink {
    pub(super) link: usize,
    /// Its block of dofs, which it shares with no other link.
    pub(super) tree: usize,
    /// The first of its dofs.
    pub(super) dof: usize,
}

/// Everything derived from the list of bodies and joints.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    pub(super) links: Vec<Link>,
    /// The links that are free bodies, ascending.
    pub(super) free_links: Vec<FreeLink>,
    /// The link of each body.
    pub(super) body_link: IndexVec<BodyIndex, usize>,
    /// Pose of each body in its link.
    pub(super) X_LB: IndexVec<BodyIndex, RigidTransform>,
    /// The dof of each column: a mimic joint's column has its leader's.
    pub(super) column_dof: Vec<usize>,
    /// Blocks of dofs that no joint or mimic couples.
    pub(super) trees: Vec<Range<usize>>,
    /// The block of each dof.
    pub(super) dof_tree: Vec<usize>,
    /// Coordinates of the model.
    pub(super) nq: usize,
}

impl Topology {
    /// Numbers links and dofs, and sets the start of each joint in q and v.
    pub(super) fn new(
        bodies: &IndexVec<BodyIndex, Body>,
        joints: &mut IndexVec<JointIndex, Joint>,
    ) -> Result<Self, ModelError> {
        let order = outward_order(bodies, joints)?;
        let (order, block_starts) = group_blocks(order, bodies, joints);
        let (mut nq, mut nv) = (0, 0);
        let mut trees: Vec<Range<usize>> = Vec::new();
        for (&body, &starts_block) in order.iter().zip(&block_starts) {
            let Some(index) = bodies[body].parent_joint else { continue };
            let joint = &mut joints[index];
            (joint.q_start, joint.v_start) = (nq, nv);
            if starts_block {
                trees.push(nv..nv);
            }
            nq += joint.nq;
            nv += joint.nv;
            if let Some(tree) = trees.last_mut() {
                tree.end = nv;
            }
        }
        for index in joints.indices() {
            if let Some(mimic) = joints[index].mimic {
                let (q_start, v_start) = (joints[mimic.leader].q_start, joints[mimic.leader].v_start);
                (joints[index].q_start, joints[index].v_start) = (q_start, v_start);
            }
        }
        let mut dof_tree = vec![0; nv];
        for (number, tree) in trees.iter().enumerate() {
            dof_tree[tree.clone()].fill(number);
        }
        let mut topology = Self {
            links: vec![world_link()],
            free_links: Vec::new(),
            body_link: IndexVec::from_elem(0, bodies.len()),
            X_LB: IndexVec::from_elem(RigidTransform::identity(), bodies.len()),
            column_dof: Vec::new(),
            trees,
            dof_tree,
            nq,
        };
        for &body in &order {
            if let Some(index) = bodies[body].parent_joint {
                topology.add_body(body, &joints[index]);
            }
            let X_LB = topology.X_LB[body];
            let inertia = bodies[body].inertia.rotate(&X_LB.rotation).shift(&X_LB.translation.vector);
            topology.links[topology.body_link[body]].inertia += inertia;
        }
        topology.free_links = topology.find_free_links();
        Ok(topology)
    }

    /// Finds the floating links on the world that have a block of six dofs to themselves: no child and no
    /// mimic joint adds to it.
    fn find_free_links(&self) -> Vec<FreeLink> {
        let of_link = |(number, link): (usize, &Link)| {
            let dof = *self.column_dof.get(link.columns.start)?;
            let tree = self.dof_tree[dof];
            let children = self.links.iter().any(|other| other.parent == number);
            let free = link.kind == JointKind::Floating && link.parent == 0 && self.trees[tree].len() == 6 && !children;
            free.then_some(FreeLink { link: number, tree, dof })
        };
        self.links.iter().enumerate().skip(1).filter_map(of_link).collect()
    }

    /// Welds `body` to its parent's link, or gives it a link of its own.
    fn add_body(&mut self, body: BodyIndex, joint: &Joint) {
        let parent = self.body_link[joint.parent];
        let X_LF = self.X_LB[joint.parent] * joint.X_PF;
        if joint.kind == JointKind::Fixed {
            self.body_link[body] = parent;
            self.X_LB[body] = X_LF;
            return;
        }
        let start = self.column_dof.len();
        self.column_dof.extend((0..joint.kind.nv()).map(|i| joint.v_start + i));
        let columns = start..self.column_dof.len();
        let path_columns: Vec<usize> =
            self.links[parent].path.iter().map(|entry| entry.column).chain(columns.clone()).collect();
        let mut dofs: Vec<usize> = path_columns.iter().map(|&column| self.column_dof[column]).collect();
        dofs.sort_unstable();
        dofs.dedup();
        let slot = |column: usize| dofs.partition_point(|&dof| dof < self.column_dof[column]);
        let path = path_columns.iter().map(|&column| PathColumn { column, slot: slot(column) }).collect();
        let number = self.links.len();
        let is_base = parent == 0 && matches!(joint.kind, JointKind::Floating | JointKind::Planar);
        self.body_link[body] = number;
        self.links.push(Link {
            parent,
            kind: joint.kind,
            R_PF: X_LF.rotation,
            p_PF: X_LF.translation.vector,
            axis_F: joint.axis_F,
            plane_F: planar_basis(&joint.axis_F),
            columns,
            q_start: joint.q_start,
            mimic: joint.mimic.map_or((1.0, 0.0), |mimic| (mimic.multiplier, mimic.offset)),
            inertia: SpatialInertia::ZERO,
            path,
            dofs: dofs.into_iter().map(DofIndex::from_usize).collect(),
            base: if is_base { Some(number) } else { self.links[parent].base },
        });
    }
}

fn world_link() -> Link {
    Link {
        parent: 0,
        kind: JointKind::Fixed,
        R_PF: Rotation::identity(),
        p_PF: Vector3::zeros(),
        axis_F: Vector3::z(),
        plane_F: (Vector3::x(), Vector3::y()),
        columns: 0..0,
        q_start: 0,
        mimic: (1.0, 0.0),
        inertia: SpatialInertia::ZERO,
        path: Vec::new(),
        dofs: Vec::new(),
        base: None,
    }
}

/// All bodies, parents first, each subtree in one piece, children in the order of their joints.
fn outward_order(
    bodies: &IndexVec<BodyIndex, Body>,
    joints: &IndexVec<JointIndex, Joint>,
) -> Result<Vec<BodyIndex>, ModelError> {
    let mut children = IndexVec::<BodyIndex, Vec<BodyIndex>>::from_elem(Vec::new(), bodies.len());
    for joint in joints.iter() {
        children[joint.parent].push(joint.child);
    }
    let mut order = Vec::with_capacity(bodies.len());
    let mut reached = IndexVec::<BodyIndex, bool>::from_elem(false, bodies.len());
    let mut stack = vec![BodyIndex::WORLD];
    while let Some(body) = stack.pop() {
        order.push(body);
        reached[body] = true;
        stack.extend(children[body].iter().rev());
    }
    if let Some((_, body)) = bodies.iter_enumerated().find(|(index, _)| !reached[*index]) {
        let joint = body.parent_joint.map(|joint| joints[joint].name.clone()).unwrap_or_default();
        return Err(ModelError::Ring { body: body.name.clone(), joint });
    }
    Ok(order)
}

/// Reorders the trees so that trees coupled by a mimic are adjacent. Returns the order and, for each body,
/// whether a block of coupled trees starts with it.
fn group_blocks(
    mut order: Vec<BodyIndex>,
    bodies: &IndexVec<BodyIndex, Body>,
    joints: &IndexVec<JointIndex, Joint>,
) -> (Vec<BodyIndex>, Vec<bool>) {
    // 0: welded to the world; otherwise the number of the tree, from 1 in the order of their roots.
    let mut tree_of = IndexVec::<BodyIndex, usize>::from_elem(0, bodies.len());
    let mut count = 0;
    for &body in &order {
        let Some(joint) = bodies[body].parent_joint.map(|joint| &joints[joint]) else { continue };
        let inherited = tree_of[joint.parent];
        let is_root = inherited == 0 && joint.kind != JointKind::Fixed;
        count += usize::from(is_root);
        tree_of[body] = if is_root { count } else { inherited };
    }
    let mut block: Vec<usize> = (0..=count).collect();
    for joint in joints.iter() {
        let Some(mimic) = joint.mimic else { continue };
        let (a, b) = (block[tree_of[joint.child]], block[tree_of[joints[mimic.leader].child]]);
        for label in &mut block {
            if *label == a.max(b) {
                *label = a.min(b);
            }
        }
    }
    order.sort_by_key(|&body| block[tree_of[body]]);
    let label = |body: BodyIndex| block[tree_of[body]];
    let mut previous = 0;
    let starts = order.iter().map(|&body| std::mem::replace(&mut previous, label(body)) != label(body)).collect();
    (order, starts)
}
