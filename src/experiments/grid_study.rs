//! The cost of a task's steps at several grids, with polygons and with triangles: figure 8 of [Masterjohn
//! 2022].

use std::fmt::Write as _;
use std::path::Path;

use super::error::{ExperimentError, write_text};
use super::plot::{Chart, Scale, Series, draw};
use super::study::{MeanCost, power_law};
use crate::geometry::FaceRepresentation;
use crate::io::package::PackageMap;
use crate::io::scene_file::{self, LoadedScene, SceneError};

/// Time between two rows of a CSV and two points of a plot \[s\].
const SAMPLE: f64 = 0.02;

/// The scenes of a grid, with the names of their faces.
pub(super) type Scenes = Vec<(&'static str, LoadedScene)>;

/// Called with the name of a run, the number of steps taken, and their total.
pub type Progress<'a> = dyn FnMut(&str, u64, u64) + 'a;

/// Faces of contact surfaces with their names.
pub(super) const KINDS: [(&str, FaceRepresentation); 2] =
    [("polygons", FaceRepresentation::Polygon), ("triangles", FaceRepresentation::TriangleFan)];

/// The grids that are also run with triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangles {
    /// All grids.
    Every,
    /// The first one.
    First,
    /// None.
    None,
}

/// The grids of a study.
#[derive(Clone, Debug)]
pub struct Grids {
    /// The refinement: the edge lengths of the scene over those of the grid [-].
    pub refinements: Vec<f64>,
    /// The grids that are also run with triangles.
    pub triangles: Triangles,
}

/// One run of a study.
#[derive(Clone, Debug)]
pub struct GridRun {
    /// The refinement: the edge lengths of the scene over those of the grid [-].
    pub refinement: f64,
    /// `polygons` or `triangles`.
    pub faces: &'static str,
    /// Means over its steps.
    pub cost: MeanCost,
    /// Whether the task succeeded.
    pub success: bool,
    /// The outcome of the run, in words.
    pub result: String,
}

/// Ratios of triangles to polygons at one grid.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The grid.
    pub refinement: f64,
    /// The ratio of the mean numbers of faces [-].
    pub faces: f64,
    /// The ratio of the solver's mean times [-].
    pub solver: f64,
    /// The ratio of the mean times of contact geometry [-].
    pub contact: f64,
}

/// All runs of a study.
#[derive(Clone, Debug, Default)]
pub struct GridStudy {
    /// The runs, grid by grid, polygons first.
    pub runs: Vec<GridRun>,
}

impl Grids {
    /// The scenes of grid `number`: with polygons, and with triangles if requested.
    fn scenes(&self, scene: &Path, number: usize) -> Result<Scenes, SceneError> {
        let refinement = self.refinements.get(number).copied().unwrap_or(1.0);
        let loaded = scene_file::load_refined(scene, &PackageMap::from_environment(), refinement)?;
        let with_triangles = self.triangles == Triangles::Every || (self.triangles == Triangles::First && number == 0);
        let kinds = if with_triangles { &KINDS[..] } else { &KINDS[..1] };
        let with = |(name, faces): &(&'static str, FaceRepresentation)| {
            let mut loaded = loaded.clone();
            loaded.settings.faces = *faces;
            (*name, loaded)
        };
        Ok(kinds.iter().map(with).collect())
    }

    /// Calls `run` for each grid in turn, with its number, refinement and scenes, and with a function that
    /// reports the steps of its runs as those of `experiment`.
    pub(super) fn run_each(
        &self,
        scene: &Path,
        experiment: &str,
        progress: &mut Progress<'_>,
        mut run: impl FnMut(usize, f64, &Scenes, &mut dyn FnMut(u64, u64)) -> Result<(), ExperimentError>,
    ) -> Result<(), ExperimentError> {
        for (number, refinement) in self.refinements.iter().enumerate() {
            let name = format!("{experiment}, refinement {refinement}");
            run(number, *refinement, &self.scenes(scene, number)?, &mut |done, all| progress(&name, done, all))?;
        }
        Ok(())
    }
}

/// Number of steps between two samples of a CSV.
pub(super) fn every(loaded: &LoadedScene) -> usize {
    (SAMPLE / loaded.settings.step()).round().max(1.0) as usize
}

impl GridStudy {
    /// The number of failed runs.
    pub fn failures(&self) -> usize {
        self.runs.iter().filter(|run| !run.success).count()
    }

    /// The ratios of triangles to polygons, at each grid that has both.
    pub fn ratios(&self) -> Vec<Ratio> {
        let ratio = |pair: &[GridRun]| {
            let [polygons, triangles] = pair else { return None };
            (triangles.faces == KINDS[1].0).then(|| Ratio {
                refinement: triangles.refinement,
                faces: triangles.cost.faces / polygons.cost.faces,
                solver: triangles.cost.solver / polygons.cost.solver,
                contact: triangles.cost.contact / polygons.cost.contact,
            })
        };
        self.runs.windows(2).filter_map(ratio).collect()
    }

    /// Mean times per step \[us\] against mean faces per step, with the power law of each in its name.
    pub fn lines(&self) -> Vec<Series> {
        let mut lines = Vec::new();
        for (name, kind, time) in [
            ("contact geometry", KINDS[0].0, (|cost| cost.contact) as fn(&MeanCost) -> f64),
            ("solver", KINDS[0].0, |cost| cost.solver),
            ("step", KINDS[0].0, MeanCost::step),
            ("solver, triangles", KINDS[1].0, |cost| cost.solver),
        ] {
            let of_kind = self.runs.iter().filter(|run| run.faces == kind);
            let points: Vec<_> = of_kind.map(|run| (run.cost.faces, time(&run.cost) * 1e6)).collect();
            if points.is_empty() {
                continue;
            }
            let label = match power_law(&points) {
                Some((_, exponent)) => format!("{name}: faces^{exponent:.2}"),
                None => name.to_owned(),
            };
            lines.push(Series::new(&label, points));
        }
        lines
    }

    /// Writes `study.csv` and `figure_8.svg`.
    pub(super) fn write(&self, title: &str, out: &Path) -> Result<(), ExperimentError> {
        let mut text =
            String::from("refinement,faces_kind,faces,motion_time,contact_time,solver_time,step_time,success\n");
        for GridRun { refinement, faces, cost, success, .. } in &self.runs {
            let numbers = [cost.faces, cost.motion, cost.contact, cost.solver, cost.step()];
            let numbers = numbers.map(|x| format!("{x:.6e}"));
            let _ = writeln!(text, "{refinement},{faces},{},{success}", numbers.join(","));
        }
        write_text(&out.join("study.csv"), &text)?;
        let chart = Chart::new(title, ["mean faces per step", "mean time per step [us]"], self.lines());
        Ok(draw(&out.join("figure_8.svg"), &[Chart { scale: Scale::Logarithmic, ..chart }])?)
    }
}
