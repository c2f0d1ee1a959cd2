//! The graph of frames: each link, joint, frame and model has a pose in another one.

use std::collections::BTreeMap;
use std::path::Path;

use super::SdformatProblem;
use super::text::fail;
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::place::{Place, suggestion};
use crate::math::RigidTransform;

/// Index of a frame.
pub(super) type FrameIndex = usize;

/// A frame that another one refers to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// By its index.
    Frame(FrameIndex),
    /// By its name in a scope.
    Named(usize, String),
}

/// The body that a frame moves with.
#[derive(Clone, Debug)]
pub(super) enum Attachment {
    /// The link of that index.
    Link(usize),
    /// The body of another frame.
    Frame(Target),
    /// The first link of a model whose file does not name one; `None` without links.
    Canonical(Option<usize>),
    /// The world.
    World,
}

pub(super) struct Frame {
    /// The frame of the pose; `None` for the root.
    pub(super) relative_to: Option<Target>,
    /// Its pose in that frame.
    pub(super) X_PF: RigidTransform,
    pub(super) attached: Attachment,
    /// For a model: the frame inside it that is put at the pose instead of the model's own.
    pub(super) placement: Option<Target>,
    pub(super) file: usize,
    pub(super) line: u32,
    /// The element, as in `link \`base\``.
    pub(super) element: String,
}

/// The names of a model: those of its elements start with `prefix`.
pub(super) struct Names {
    pub(super) prefix: String,
    pub(super) model: FrameIndex,
    /// Whether `world` is the name of the model's own frame.
    pub(super) is_world: bool,
}

#[derive(Default)]
pub(super) struct Frames {
    pub(super) frames: Vec<Frame>,
    pub(super) scopes: Vec<Names>,
    pub(super) files: Vec<std::path::PathBuf>,
    pub(super) by_name: BTreeMap<String, FrameIndex>,
    /// The frame of each frame's pose, and the number of frames above it.
    parents: Vec<(Option<FrameIndex>, usize)>,
}

impl Frames {
    pub(super) fn place(&self, frame: FrameIndex) -> Place<'_> {
        let frame = &self.frames[frame];
        Place::new(self.file(frame.file), frame.line, frame.element.clone())
    }

    pub(super) fn file(&self, file: usize) -> &Path {
        self.files.get(file).map_or(Path::new(""), std::path::PathBuf::as_path)
    }

    /// Adds a frame with a name of its own, unless `name` is empty.
    pub(super) fn add(&mut self, frame: Frame, name: &str, what: &'static str) -> Result<FrameIndex, UrdfError> {
        let index = self.frames.len();
        self.frames.push(frame);
        if name.is_empty() {
            return Ok(index);
        }
        match self.by_name.get(name) {
            Some(&first) => {
                let first_line = self.frames[first].line;
                Err(self.place(index).fail(UrdfProblem::Duplicate { what, name: name.to_owned(), first_line }))
            }
            None => {
                self.by_name.insert(name.to_owned(), index);
                Ok(index)
            }
        }
    }

    /// The frame called `name` in the scope.
    pub(super) fn find(&self, scope: usize, name: &str, place: &Place) -> Result<FrameIndex, UrdfError> {
        let names = &self.scopes[scope];
        if name == "__model__" || (name == "world" && names.is_world) {
            return Ok(names.model);
        }
        let full = format!("{}{}", names.prefix, name.strip_suffix("::__model__").unwrap_or(name));
        self.by_name.get(&full).copied().ok_or_else(|| {
            let known = self.by_name.keys().filter_map(|known| known.strip_prefix(&names.prefix));
            let what = "link, joint, frame or model";
            place.fail(UrdfProblem::Unknown { what, name: name.to_owned(), suggestion: suggestion(name, known) })
        })
    }

    fn target(&self, target: &Target, place: &Place) -> Result<FrameIndex, UrdfError> {
        match target {
            Target::Frame(index) => Ok(*index),
            Target::Named(scope, name) => self.find(*scope, name, place),
        }
    }

    /// Looks up all names, and checks that the poses lead to the root.
    pub(super) fn resolve(&mut self) -> Result<(), UrdfError> {
        let mut above = Vec::with_capacity(self.frames.len());
        for (index, frame) in self.frames.iter().enumerate() {
            let parent = frame.relative_to.as_ref();
            above.push(parent.map(|target| self.target(target, &self.place(index))).transpose()?);
        }
        let mut depths: Vec<Option<usize>> = vec![None; above.len()];
        for start in 0..above.len() {
            let mut path = Vec::new();
            let mut here = Some(start);
            while let Some(frame) = here.filter(|frame| depths[*frame].is_none()) {
                if path.len() > above.len() {
                    break;
                }
                path.push(frame);
                here = above[frame];
            }
            if path.len() > above.len() {
                // The walk does not reach the root, so the last frame is on a circle.
                let last = path[path.len() - 1];
                let from =
                    path.iter().rev().skip(1).position(|frame| *frame == last).map_or(0, |back| path.len() - 2 - back);
                let circle: Vec<String> =
                    path[from..].iter().map(|frame| self.frames[*frame].element.clone()).collect();
                let problem = SdformatProblem::PoseLoop { path: circle.join(", ") };
                return Err(fail(&self.place(last), problem));
            }
            let depth = here.and_then(|frame| depths[frame]).map_or(0, |depth| depth + 1);
            for (below, frame) in path.iter().rev().enumerate() {
                depths[*frame] = Some(depth + below);
            }
        }
        self.parents = above.into_iter().zip(depths.into_iter().map(Option::unwrap_or_default)).collect();
        // Models inside others come later in the list, and a placement frame may be inside one of them.
        for index in (0..self.frames.len()).rev() {
            if let Some(target) = self.frames[index].placement.clone() {
                let placed = self.target(&target, &self.place(index))?;
                let X_MF = self.pose(index, placed);
                self.frames[index].X_PF *= X_MF.inverse();
            }
        }
        Ok(())
    }

    /// The pose of frame `b` in frame `a`, computed from the frames between them only, so that a pose that
    /// the file states keeps its bits.
    pub(super) fn pose(&self, a: FrameIndex, b: FrameIndex) -> RigidTransform {
        let (mut up, mut down) = (a, b);
        let (mut X_CA, mut X_CB): (Option<RigidTransform>, Option<RigidTransform>) = (None, None);
        let climb = |frame: &mut FrameIndex, X: &mut Option<RigidTransform>| {
            let X_PF = self.frames[*frame].X_PF;
            *X = Some(X.map_or(X_PF, |X_FX| X_PF * X_FX));
            *frame = self.parents[*frame].0.unwrap_or(*frame);
        };
        while up != down {
            let (depth_up, depth_down) = (self.parents[up].1, self.parents[down].1);
            if depth_up == 0 && depth_down == 0 {
                break;
            }
            if depth_down >= depth_up {
                climb(&mut down, &mut X_CB);
            } else {
                climb(&mut up, &mut X_CA);
            }
        }
        match (X_CA, X_CB) {
            (None, X_AB) => X_AB.unwrap_or_else(RigidTransform::identity),
            (Some(X_BA), None) => X_BA.inverse(),
            (Some(X_CA), Some(X_CB)) => X_CA.inv_mul(&X_CB),
        }
    }

    /// The link that the frame moves with; `None` for the world.
    pub(super) fn link_of(&self, frame: FrameIndex) -> Result<Option<usize>, UrdfError> {
        let mut here = frame;
        for _ in 0..=self.frames.len() {
            match &self.frames[here].attached {
                Attachment::World => return Ok(None),
                Attachment::Link(link) | Attachment::Canonical(Some(link)) => return Ok(Some(*link)),
                Attachment::Canonical(None) => {
                    let frame = self.frames[frame].element.clone();
                    let problem = SdformatProblem::NotAttached { frame, reason: "its model has no link".to_owned() };
                    return Err(fail(&self.place(here), problem));
                }
                Attachment::Frame(target) => here = self.target(target, &self.place(here))?,
            }
        }
        let frame = self.frames[frame].element.clone();
        let reason = "the frames are attached to each other in a circle; attach one of them to a link".to_owned();
        Err(fail(&self.place(here), SdformatProblem::NotAttached { frame, reason }))
    }
}
