//! Copies of a model: at a list of poses, in a grid, or at random poses.

use super::error::{Place, SceneError};
use super::reader::{Range, Section, list, number, vector, wrong_type};
use super::yaml::{Node, Value};
use crate::io::limits::MODELS_MAX;
use crate::math::{RigidTransform, Rotation, Vector3};

/// The keys of copies.
pub(super) const COPIES: [&str; 4] = ["count", "at", "grid", "random"];

/// A random pose. It is chosen when the models are loaded, so that no two bounding spheres overlap.
#[derive(Clone, Debug)]
pub(super) struct RandomPose {
    /// The section `random`. The copies that share it are consecutive models.
    pub(super) place: Place,
    pub(super) seed: u64,
    /// The corners of the box that holds the bounding spheres, in the world \[m\].
    pub(super) lower: Vector3,
    pub(super) upper: Vector3,
    /// Whether the orientation is random too.
    pub(super) turned: bool,
}

/// The poses of copies. The pose of a copy in the scene is this pose times the pose of the model.
pub(super) enum Copies {
    At(Vec<RigidTransform>),
    Random(usize, RandomPose),
}

/// Reads the copies of the model `name`. `free_at` is the position \[m\] of its root, or `None` if it is
/// welded.
pub(super) fn read_copies(
    section: &Section<'_>,
    name: &str,
    free_at: Option<Vector3>,
) -> Result<Option<Copies>, SceneError> {
    let conflict = |key: &str, problem: String| SceneError::Conflict { place: section.key_place(key).clone(), problem };
    let mut ways = ["at", "grid", "random"].into_iter().filter_map(|key| Some((key, section.get(key)?)));
    let Some((key, node)) = ways.next() else {
        return match section.get("count") {
            Some(_) => Err(conflict(
                "count",
                format!(
                    "the copies of model `{name}` have no poses; add `random: {{ within: [[0, 0, 0], [1, 1, 1]] }}`, or use \
                         `grid` or `at` in place of `count`"
                ),
            )),
            None => Ok(None),
        };
    };
    if let Some((second, _)) = ways.next() {
        return Err(conflict(second, format!("model `{name}` has both `{key}` and `{second}`; keep one of them")));
    }
    if key != "random" && section.get("count").is_some() {
        let problem = format!("`{key}` of model `{name}` has its own number of copies; remove `count`");
        return Err(conflict("count", problem));
    }
    match key {
        "at" => {
            let poses = list(node, "`at`")?.iter().map(read_pose).collect::<Result<Vec<_>, _>>()?;
            check_count(node, poses.len())?;
            Ok(Some(Copies::At(poses)))
        }
        "grid" => Ok(Some(Copies::At(read_grid(node)?))),
        _ => {
            let Some(p_WB) = free_at else {
                return Err(conflict(key, format!("model `{name}` is welded; `random` is for free models")));
            };
            if p_WB != Vector3::zeros() {
                let problem = format!("the positions of model `{name}` are random; remove the `xyz` of `free`");
                return Err(conflict("free", problem));
            }
            let count = match section.get("count") {
                Some(count) => read_count(count, "`count`")?,
                None => 1,
            };
            Ok(Some(Copies::Random(count, read_random(node)?)))
        }
    }
}

/// A position, or a section with `xyz` and `rpy`.
fn read_pose(node: &Node) -> Result<RigidTransform, SceneError> {
    match node.value {
        Value::Map(_) => Section::new(node, "a pose of `at`", &["xyz", "rpy"])?.pose(),
        _ => {
            let p = vector(node, "a position of `at` [m]", Range::Any)?;
            Ok(RigidTransform::from_parts(p.into(), Rotation::identity()))
        }
    }
}

/// Positions in rows along x, then along y, then along z.
fn read_grid(node: &Node) -> Result<Vec<RigidTransform>, SceneError> {
    let grid = Section::new(node, "`grid`", &["count", "spacing"])?;
    let counts = grid.require("count", "count: [4, 3, 1]")?;
    let [nx, ny, nz] = match list(counts, "`count` of `grid`")? {
        [x, y, z] => [read_count(x, "a count")?, read_count(y, "a count")?, read_count(z, "a count")?],
        _ => return Err(wrong_type(counts, "`count` of `grid`", "three whole numbers, as in `[4, 3, 1]`")),
    };
    check_count(counts, nx * ny * nz)?;
    let spacing = vector(grid.require("spacing", "spacing: [0.1, 0.1, 0.1]")?, "`spacing` [m]", Range::Any)?;
    let at = |i: usize| Vector3::new((i % nx) as f64, (i / nx % ny) as f64, (i / nx / ny) as f64);
    let pose = |i| RigidTransform::from_parts(at(i).component_mul(&spacing).into(), Rotation::identity());
    Ok((0..nx * ny * nz).map(pose).collect())
}

fn read_random(node: &Node) -> Result<RandomPose, SceneError> {
    /// Whole numbers up to this are exact in a file's numbers.
    const SEED_MAX: f64 = 9e15;
    let random = Section::new(node, "`random`", &["within", "seed", "rotate"])?;
    let within = random.require("within", "within: [[-0.1, -0.1, 0], [0.1, 0.1, 0.5]]")?;
    let corner = |node| vector(node, "a corner of `within` [m]", Range::Any);
    let (lower, upper) = match list(within, "`within`")? {
        [lower, upper] => (corner(lower)?, corner(upper)?),
        _ => return Err(wrong_type(within, "`within`", "two opposite corners, as in `[[0, 0, 0], [1, 1, 1]]`")),
    };
    let seed = random.number("seed", "[-]", Range::Between(0.0, SEED_MAX, "and whole"))?.unwrap_or(0.0);
    if let Some(node) = random.get("seed").filter(|_| seed.fract() != 0.0) {
        return Err(wrong_type(node, "`seed`", "a whole number, as in `7`"));
    }
    Ok(RandomPose {
        place: node.place.clone(),
        seed: seed as u64,
        lower: lower.inf(&upper),
        upper: lower.sup(&upper),
        turned: random.truth("rotate")?.unwrap_or(true),
    })
}

fn read_count(node: &Node, what: &str) -> Result<usize, SceneError> {
    let count = number(node, what, Range::Between(1.0, MODELS_MAX as f64, "and whole"))?;
    if count.fract() != 0.0 {
        return Err(wrong_type(node, what, "a whole number, as in `40`"));
    }
    Ok(count as usize)
}

fn check_count(node: &Node, count: usize) -> Result<(), SceneError> {
    if (1..=MODELS_MAX).contains(&count) {
        return Ok(());
    }
    Err(SceneError::OutOfRange {
        place: node.place.clone(),
        what: "the number of copies".to_owned(),
        value: count as f64,
        allowed: format!("between 1 and {MODELS_MAX}"),
    })
}
