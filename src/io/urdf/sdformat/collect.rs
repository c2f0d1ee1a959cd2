//! The walk through a file and those that it includes: all links and joints with their frames.

use std::path::{Path, PathBuf};

use super::SdformatProblem;
use super::document::{check_version, only_model};
use super::frames::{Attachment, Frame, FrameIndex, Frames, Names, Target};
use super::include;
use super::text::{child_truth, fail, pose, relative_to, required_child};
use super::unused::Unused;
use crate::io::limits;
use crate::io::package::PackageMap;
use crate::io::urdf::error::{UrdfError, UrdfProblem};
use crate::io::urdf::place::Place;
use crate::io::xml::Element;
use crate::math::RigidTransform;
use crate::robot::LoadWarning;

/// Deeper includes are refused.
const INCLUDE_DEPTH_MAX: usize = 16;

/// A link or a joint. The names of the models that contain it are the prefix of its name.
pub(super) struct Item {
    pub(super) name: String,
    pub(super) scope: usize,
    pub(super) frame: FrameIndex,
    pub(super) file: usize,
    pub(super) element: Element,
}

/// The properties of a model that concern all of its links.
#[derive(Clone, Copy, Default)]
pub(super) struct ModelFlags {
    pub(super) is_static: bool,
    pub(super) self_collide: Option<bool>,
    /// The canonical link: frames that are attached to the model itself move with it.
    pub(super) first_link: Option<usize>,
}

/// The changes that an `<include>` makes to the model.
#[derive(Default)]
struct Included {
    name: Option<String>,
    pose: Option<Element>,
    placement_frame: Option<String>,
    is_static: Option<bool>,
    is_merged: bool,
}

pub(super) struct Collected<'a> {
    pub(super) packages: &'a PackageMap,
    pub(super) frames: Frames,
    pub(super) flags: Vec<ModelFlags>,
    pub(super) links: Vec<Item>,
    pub(super) joints: Vec<Item>,
    /// Collision filter groups, with their scope and file.
    pub(super) groups: Vec<(usize, usize, Element)>,
    pub(super) unused: Unused,
    pub(super) warnings: Vec<LoadWarning>,
    folders: Vec<PathBuf>,
    elements: usize,
}

impl<'a> Collected<'a> {
    pub(super) fn new(packages: &'a PackageMap) -> Self {
        Self {
            packages,
            frames: Frames::default(),
            flags: Vec::new(),
            links: Vec::new(),
            joints: Vec::new(),
            groups: Vec::new(),
            unused: Unused::default(),
            warnings: Vec::new(),
            folders: Vec::new(),
            elements: 0,
        }
    }

    /// The folder of the relative addresses of a file.
    pub(super) fn folder(&self, file: usize) -> &Path {
        self.folders.get(file).map_or(Path::new(""), PathBuf::as_path)
    }

    /// Adds a file. The number of elements of all files together is limited.
    pub(super) fn add_file(&mut self, path: &Path, folder: &Path, root: &Element) -> Result<usize, UrdfError> {
        fn count(element: &Element) -> usize {
            1 + element.children.iter().map(count).sum::<usize>()
        }
        self.elements += count(root);
        let most = limits::XML_NODES_MAX as usize;
        if self.elements > most {
            return Err(fail(&Place::named(path, root), SdformatProblem::TooManyElements(most)));
        }
        self.frames.files.push(path.to_path_buf());
        self.folders.push(folder.to_path_buf());
        Ok(self.frames.files.len() - 1)
    }

    /// Collects the outermost model, or the world.
    pub(super) fn outermost(&mut self, model: Element, file: usize) -> Result<(), UrdfError> {
        let path = self.frames.file(file).to_path_buf();
        let place = Place::named(&path, &model);
        let is_world = model.name == "world";
        // The scene gives the pose of the outermost model
        pose(&model, &place)?;
        let frame = Frame {
            relative_to: None,
            X_PF: RigidTransform::identity(),
            attached: if is_world { Attachment::World } else { Attachment::Canonical(None) },
            placement: None,
            file,
            line: model.line,
            element: place.element.clone(),
        };
        let frame = self.frames.add(frame, "", "model")?;
        let names = Names { prefix: String::new(), model: frame, is_world };
        let is_static = child_truth(&model, &place, "static")?.unwrap_or(false);
        let self_collide = child_truth(&model, &place, "self_collide")?;
        self.contents(model, file, names, ModelFlags { is_static, self_collide, first_link: None }, &mut Vec::new())?;
        Ok(())
    }

    /// Collects the elements of a model. Returns the link that the model names as canonical, or its first
    /// link.
    fn contents(
        &mut self,
        model: Element,
        file: usize,
        names: Names,
        flags: ModelFlags,
        chain: &mut Vec<PathBuf>,
    ) -> Result<Option<usize>, UrdfError> {
        let path = self.frames.file(file).to_path_buf();
        let place = Place::named(&path, &model);
        let model_frame = names.model;
        let scope = self.frames.scopes.len();
        self.frames.scopes.push(names);
        self.flags.push(flags);
        self.unused.count(&model, &path);
        let canonical = model.attribute("canonical_link").filter(|name| !name.is_empty()).map(str::to_owned);
        let mut first_link = None;
        for child in model.children {
            let at = Place::named(&path, &child);
            match child.name.as_str() {
                "link" => {
                    let link = self.links.len();
                    first_link = first_link.or(Some(link));
                    let target = Target::Frame(model_frame);
                    self.item(child, (scope, file), target, Attachment::Link(link))?;
                }
                "joint" => {
                    let target = Target::Named(scope, required_child(&child, &at, "child")?.to_owned());
                    self.item(child, (scope, file), target.clone(), Attachment::Frame(target))?;
                }
                "drake:joint" => {
                    let target = Target::Named(scope, required_child(&child, &at, "drake:child")?.to_owned());
                    self.item(child, (scope, file), target.clone(), Attachment::Frame(target))?;
                }
                "frame" => {
                    let attached = child.attribute("attached_to").filter(|name| !name.is_empty());
                    let target = attached.map_or(Target::Frame(model_frame), |to| Target::Named(scope, to.to_owned()));
                    self.frame(&child, (scope, file), target.clone(), Attachment::Frame(target))?;
                }
                "model" => {
                    let inner = self.nested(child, file, (scope, file), Included::default(), chain)?;
                    first_link = first_link.or(inner);
                }
                "include" => {
                    let inner = self.include(&child, scope, file, chain)?;
                    first_link = first_link.or(inner);
                }
                "drake:collision_filter_group" => self.groups.push((scope, file, child)),
                _ => {}
            }
        }
        if let Some(name) = canonical {
            let frame = self.frames.find(scope, &name, &place)?;
            match self.frames.frames[frame].attached {
                Attachment::Link(link) => first_link = Some(link),
                _ => {
                    let reason = "`canonical_link` must be the name of a link".to_owned();
                    return Err(fail(&place, SdformatProblem::NotAttached { frame: name, reason }));
                }
            }
        }
        self.flags[scope].first_link = first_link;
        if let Attachment::Canonical(link) = &mut self.frames.frames[model_frame].attached {
            *link = first_link;
        }
        Ok(first_link)
    }

    /// Adds the frame of a link, a joint or a `<frame>`. Its pose is given in the frame `default`, unless the
    /// element names another frame.
    fn frame(
        &mut self,
        element: &Element,
        (scope, file): (usize, usize),
        default: Target,
        attached: Attachment,
    ) -> Result<(String, FrameIndex), UrdfError> {
        let path = self.frames.file(file).to_path_buf();
        let place = Place::named(&path, element);
        let own = place.required(element, "name")?;
        if own.is_empty() {
            return Err(place.fail(UrdfProblem::MissingAttribute { attribute: "name".to_owned() }));
        }
        let name = format!("{}{own}", self.frames.scopes[scope].prefix);
        let frame = Frame {
            relative_to: Some(relative_to(element).map_or(default, |frame| Target::Named(scope, frame.to_owned()))),
            X_PF: pose(element, &place)?,
            attached,
            placement: None,
            file,
            line: element.line,
            element: format!("{} `{name}`", element.name),
        };
        let (what, known) = match element.name.as_str() {
            "link" => ("link", false),
            // Before version 1.7, a joint could have the name of a link.
            "joint" | "drake:joint" => ("joint", self.links.iter().any(|link| link.name == name)),
            _ => ("frame", false),
        };
        let index = self.frames.add(frame, if known { "" } else { &name }, what)?;
        Ok((name, index))
    }

    fn item(
        &mut self,
        element: Element,
        (scope, file): (usize, usize),
        default: Target,
        attached: Attachment,
    ) -> Result<(), UrdfError> {
        let (name, frame) = self.frame(&element, (scope, file), default, attached)?;
        let items = if element.name == "link" { &mut self.links } else { &mut self.joints };
        items.push(Item { name, scope, frame, file, element });
        let place = self.frames.place(frame);
        let (links, joints) = (self.links.len(), self.joints.len());
        if links.max(joints) > limits::LINKS_MAX {
            return Err(place.fail(UrdfProblem::TooLarge { links, joints }));
        }
        Ok(())
    }

    /// Collects a model inside the model of scope `outer`. The element that adds it is in file `outer_file`.
    fn nested(
        &mut self,
        model: Element,
        file: usize,
        (outer, outer_file): (usize, usize),
        included: Included,
        chain: &mut Vec<PathBuf>,
    ) -> Result<Option<usize>, UrdfError> {
        let path = self.frames.file(file).to_path_buf();
        let place = Place::named(&path, &model);
        let own = place.required(&model, "name")?.to_owned();
        let name = format!("{}{}", self.frames.scopes[outer].prefix, included.name.as_ref().unwrap_or(&own));
        let outer_path = self.frames.file(outer_file).to_path_buf();
        let (X_PF, target) = match &included.pose {
            Some(include) => (pose(include, &Place::named(&outer_path, include))?, relative_to(include)),
            None => (pose(&model, &place)?, relative_to(&model)),
        };
        let model_frame = self.frames.scopes[outer].model;
        let target = target.map_or(Target::Frame(model_frame), |name| Target::Named(outer, name.to_owned()));
        let prefix = match included.is_merged {
            true => self.frames.scopes[outer].prefix.clone(),
            false => format!("{name}::"),
        };
        let placement = included.placement_frame.as_deref().or(model.attribute("placement_frame"));
        let inner = self.frames.scopes.len();
        let frame = Frame {
            relative_to: Some(target),
            X_PF,
            attached: Attachment::Canonical(None),
            placement: placement.filter(|name| !name.is_empty()).map(|name| Target::Named(inner, name.to_owned())),
            file,
            line: model.line,
            element: format!("model `{name}`"),
        };
        let frame = self.frames.add(frame, if included.is_merged { "" } else { &name }, "model")?;
        let names = Names { prefix, model: frame, is_world: false };
        let outside = self.flags[outer];
        let own_static = match included.is_static {
            Some(stated) => stated,
            None => child_truth(&model, &place, "static")?.unwrap_or(false),
        };
        let self_collide = child_truth(&model, &place, "self_collide")?.or(outside.self_collide);
        let is_static = outside.is_static || own_static;
        self.contents(model, file, names, ModelFlags { is_static, self_collide, first_link: None }, chain)
    }

    fn include(
        &mut self,
        element: &Element,
        scope: usize,
        file: usize,
        chain: &mut Vec<PathBuf>,
    ) -> Result<Option<usize>, UrdfError> {
        let path = self.frames.file(file).to_path_buf();
        let place = Place::named(&path, element);
        let uri = required_child(element, &place, "uri")?;
        let found = include::find(uri, self.folder(file), self.packages, &place)?;
        if chain.is_empty() {
            chain.push(path.clone());
        }
        if chain.contains(&found) {
            let names: Vec<String> = chain.iter().chain([&found]).map(|file| file.display().to_string()).collect();
            return Err(fail(&place, SdformatProblem::IncludeLoop { chain: names.join(", ") }));
        }
        if chain.len() > INCLUDE_DEPTH_MAX {
            return Err(fail(&place, SdformatProblem::IncludeDepth(INCLUDE_DEPTH_MAX)));
        }
        let root = include::read(&found, &place)?;
        let folder = found.parent().unwrap_or(Path::new("")).to_path_buf();
        let inner = self.add_file(&found, &folder, &root)?;
        check_version(&root, &found)?;
        let model = only_model(root, &found)?;
        if model.name == "world" {
            let what = "a world cannot be included".to_owned();
            return Err(fail(&Place::named(&found, &model), SdformatProblem::Models { found: what }));
        }
        let name = element.child("name").map(|name| name.text.clone()).filter(|name| !name.is_empty());
        let placement_frame = element.child("placement_frame").map(|frame| frame.text.clone());
        let included = Included {
            name,
            // The include's pose replaces that of the model.
            pose: (element.child("pose").is_some() || placement_frame.is_some()).then(|| element.clone()),
            placement_frame,
            is_static: child_truth(element, &place, "static")?,
            is_merged: matches!(element.attribute("merge"), Some("true" | "1")),
        };
        chain.push(found);
        let first_link = self.nested(model, inner, (scope, file), included, chain);
        chain.pop();
        first_link
    }
}
