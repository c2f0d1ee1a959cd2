//! The `closures` of a scene file.

use super::error::{Place, SceneError};
use super::reader::{Named, Range, Section, list, unknown_name};
use super::yaml::Node;
use crate::math::{BodyIndex, RigidTransform};
use crate::multibody::{Data, State, kinematics};
use crate::scene::{Closure, ClosureKind, Scene};

/// A closure may be open by this much at the start \[m\]; the first steps close it.
const OPEN_MAX: f64 = 1e-3;
/// The same for a weld's angle \[rad\].
const TURNED_MAX: f64 = 1e-2;

/// A closure as written in the file.
#[derive(Clone, Debug)]
pub(super) struct ClosureSpec {
    place: Place,
    kind: ClosureKind,
    /// Whether the distance is that at the start.
    as_it_starts: bool,
    frames: [(Named, RigidTransform); 2],
}

/// Reads the list.
pub(super) fn read_closures(node: &Node) -> Result<Vec<ClosureSpec>, SceneError> {
    list(node, "`closures`")?.iter().map(read_closure).collect()
}

fn read_closure(node: &Node) -> Result<ClosureSpec, SceneError> {
    let (kind, inner) = Section::only(node, "a closure", &["weld", "point", "distance"])?;
    let (keys, held): (&[&str], _) = match kind.name.as_str() {
        "weld" => (&["a", "b"], ClosureKind::Weld),
        "point" => (&["a", "b"], ClosureKind::Point),
        _ => (&["a", "b", "length"], ClosureKind::Distance(0.0)),
    };
    let closure = Section::new(inner, "a closure", keys)?;
    let frame = |key: &'static str, example: &'static str| -> Result<_, SceneError> {
        let frame = Section::new(closure.require(key, example)?, "a frame of a closure", &["body", "xyz", "rpy"])?;
        let body = super::reader::text(frame.require("body", "body: coupler")?, "`body`")?;
        Ok((body, frame.pose()?))
    };
    let frames =
        [frame("a", "a: { body: coupler, xyz: [0.1, 0, 0] }")?, frame("b", "b: { body: rocker, xyz: [0, 0, 0.2] }")?];
    let length = match held {
        ClosureKind::Distance(_) => closure.number("length", "[m]", Range::Positive)?,
        _ => None,
    };
    Ok(ClosureSpec {
        place: node.place.clone(),
        kind: length.map_or(held, ClosureKind::Distance),
        as_it_starts: matches!(held, ClosureKind::Distance(_)) && length.is_none(),
        frames,
    })
}

/// The closures with their bodies, looked up among `bodies`. A distance without a length has 0 until
/// [`settle_closures`].
pub(super) fn resolve_closures<'a>(
    specs: &'a [ClosureSpec],
    bodies: &'a [(String, BodyIndex)],
) -> impl Iterator<Item = Result<(Closure, &'a ClosureSpec), SceneError>> {
    let find = move |named: &Named| {
        if named.name == "world" {
            return Ok(BodyIndex::WORLD);
        }
        let found = bodies.iter().find(|(name, _)| *name == named.name).map(|(_, body)| *body);
        found.ok_or_else(|| unknown_name(named, "body", bodies.iter().map(|(name, _)| name.as_str())))
    };
    let resolve = move |spec: &'a ClosureSpec| {
        let [(a, X_AF), (b, X_BG)] = &spec.frames;
        let (A, B) = (find(a)?, find(b)?);
        if A == B {
            let problem = format!("this closure joins `{}` to itself; name two bodies", a.name);
            return Err(SceneError::Conflict { place: spec.place.clone(), problem });
        }
        let name = format!("{} to {}", a.name, b.name);
        Ok((Closure { name, kind: spec.kind, A: (A, *X_AF), B: (B, *X_BG) }, spec))
    };
    specs.iter().map(resolve)
}

/// Sets each distance without a length to its value at the start, and refuses closures that are open at the
/// start.
pub(super) fn settle_closures(scene: &mut Scene, initial: &State, specs: &[&ClosureSpec]) -> Result<(), SceneError> {
    if specs.is_empty() {
        return Ok(());
    }
    let mut data = Data::new(scene.model());
    kinematics(scene.model(), initial, &mut data);
    for (closure, spec) in scene.closures_mut().iter_mut().zip(specs) {
        let (X_WA, X_WB) = (&data.X_WB[closure.A.0], &data.X_WB[closure.B.0]);
        let error = closure.error(X_WA, X_WB);
        if spec.as_it_starts {
            closure.kind = ClosureKind::Distance((error.points.1 - error.points.0).norm());
            continue;
        }
        let (open, turned) = error.largest();
        if open > OPEN_MAX || turned > TURNED_MAX {
            let problem = format!(
                "the closure {} is open by {:.3} mm and {turned:.4} rad at the start, with frame a at {:.4?} m and b at {:.4?} m in the \
                 world; change the initial `joints`, or the frames",
                closure.name,
                1e3 * open,
                error.points.0.as_slice(),
                error.points.1.as_slice(),
            );
            return Err(SceneError::Conflict { place: spec.place.clone(), problem });
        }
    }
    Ok(())
}
