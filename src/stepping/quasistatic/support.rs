//! The requirement of a purely quasistatic step: contacts connect each load to the world.

use crate::math::{BodyIndex, Index};
use crate::multibody::Model;
use crate::scene::Scene;
use crate::solvers::quasistatic::QuasistaticProblem;

/// Groups of trees that contacts connect, and whether each group is held.
#[derive(Clone, Debug, Default)]
pub(super) struct Support {
    /// The group of each tree, as a link towards the smallest tree of the group, possibly through other
    /// trees.
    group: Vec<usize>,
    by_itself: Vec<bool>,
    held: Vec<bool>,
}

impl Support {
    /// Starts a step: a tree counts as held if it has an actuator, or if the problem gives it inertia or
    /// damping.
    pub(super) fn start(&mut self, model: &Model, actuated: &[bool], problem: &QuasistaticProblem) {
        let n = problem.size();
        let holds = |dof: usize| actuated[dof] || problem.quadratic[dof * n + dof] > 0.0;
        self.by_itself.clear();
        self.by_itself.extend(model.trees().iter().map(|dofs| dofs.clone().any(holds)));
    }

    /// Groups the trees by the contacts of `problem`. A group is held if it touches the world or a held tree.
    pub(super) fn find(&mut self, model: &Model, problem: &QuasistaticProblem) {
        self.group.clear();
        self.group.extend(0..model.trees().len());
        self.held.clone_from(&self.by_itself);
        for contact in problem.contacts() {
            let dofs = problem.columns(contact).iter().map(|(dof, _)| *dof);
            self.join(model, dofs);
        }
        for patch in problem.patches() {
            self.join(model, patch.dofs().iter().copied());
        }
    }

    /// Joins the trees of a contact to one group. A contact with a single tree connects it to the world.
    fn join(&mut self, model: &Model, dofs: impl Iterator<Item = u32>) {
        let mut first = None::<usize>;
        let mut several = false;
        for dof in dofs {
            let tree = model.tree_of_dof()[dof as usize];
            match first {
                None => first = Some(tree),
                Some(other) if other != tree => {
                    several = true;
                    let (a, b) = (self.root(tree), self.root(other));
                    let (low, high) = (a.min(b), a.max(b));
                    self.group[high] = low;
                    self.held[low] |= self.held[high];
                }
                Some(_) => {}
            }
        }
        if let (Some(tree), false) = (first, several) {
            let root = self.root(tree);
            self.held[root] = true;
        }
    }

    fn root(&self, tree: usize) -> usize {
        let mut root = tree;
        while self.group[root] != root {
            root = self.group[root];
        }
        root
    }

    /// The first loaded tree that is not held.
    pub(super) fn unsupported(&self, model: &Model, problem: &QuasistaticProblem) -> Option<usize> {
        let pulled = |tree: usize| model.trees()[tree].clone().any(|dof| problem.linear[dof] != 0.0);
        (0..model.trees().len()).find(|tree| !self.held[self.root(*tree)] && pulled(*tree))
    }
}

/// Whether `tree` carries a geometry of pair number `index`.
pub(super) fn concerns(scene: &Scene, index: usize, tree: usize) -> bool {
    let pair = &scene.contact_pairs()[index];
    let model = scene.model();
    let moves = |body: BodyIndex| model.body_dofs(body).iter().any(|dof| model.tree_of_dof()[dof.to_usize()] == tree);
    moves(scene.geometries()[pair.A].body) || moves(scene.geometries()[pair.B].body)
}
