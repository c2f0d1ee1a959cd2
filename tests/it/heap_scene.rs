//! Heaps of boxes, spheres, cylinders, capsules and ellipsoids that fall into an open box.

use isobar::contact::ContactProperties;
use isobar::geometry::Shape;
use isobar::math::{BodyIndex, Matrix3, RigidTransform, Rotation, SpatialInertia, Vector3};
use isobar::scene::{Scene, SceneBuilder};

use crate::random::Random;

const DENSITY: f64 = 1000.0;
/// Half of the typical extent of a body \[m\].
pub(crate) const RADIUS: f64 = 0.02;
/// The cells in which bodies start: no body reaches out of its cell \[m\].
const CELL: [f64; 2] = [0.066, 0.104];
/// The largest rotation of a body at the start about each axis \[rad\].
const TILT: f64 = 0.15;
/// The modulus of compliant bodies \[Pa\].
pub(crate) const MODULUS: f64 = 1e6;
/// The thickness of the walls \[m\].
const THICK: f64 = 0.05;

/// A shape of the extents 2 `half`, its volume \[m3\], and its moments of inertia by mass \[m2\].
pub(crate) fn body(kind: usize, half: Vector3) -> (Shape, f64, Vector3) {
    let squares = half.component_mul(&half);
    let around = Vector3::new(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y);
    let (radius, length) = (half.x, 2.0 * half.z);
    let disc = std::f64::consts::PI * radius * radius;
    let round = |length: f64| {
        let across = squares.x / 4.0 + length * length / 12.0;
        Vector3::new(across, across, squares.x / 2.0)
    };
    match kind {
        0 => (Shape::Box { size: 2.0 * half }, 8.0 * half.product(), around / 3.0),
        1 => (Shape::Sphere { radius }, 4.0 / 3.0 * disc * radius, Vector3::repeat(0.4 * squares.x)),
        2 => (Shape::Cylinder { radius, length }, disc * length, round(length)),
        3 => (Shape::Capsule { radius, length }, disc * (length + 4.0 / 3.0 * radius), round(length + radius)),
        _ => (Shape::Ellipsoid { semi_axes: half }, 4.0 / 3.0 * std::f64::consts::PI * half.product(), around / 5.0),
    }
}

/// A body of a scene.
pub(crate) struct Body {
    pub(crate) kind: usize,
    /// Half of its extents in the axes of its frame \[m\]; a capsule has two half spheres more.
    pub(crate) half: Vector3,
    pub(crate) mass: f64,
    pub(crate) moments: Vector3,
    pub(crate) X_WB: RigidTransform,
}

/// The bodies of a heap, the inner width of its box, and the height of the walls \[m\].
pub(crate) struct Heap {
    pub(crate) bodies: Vec<Body>,
    pub(crate) width: f64,
    pub(crate) high: f64,
}

impl Heap {
    /// `count` bodies above each other in the box, which is wider for more bodies. They are apart from each
    /// other and from the walls.
    pub(crate) fn falling(count: usize, seed: u64) -> Self {
        let width = 0.2 * (count as f64 / 100.0).cbrt();
        let mut random = Random::new(seed);
        let columns = (width / CELL[0]).floor().max(1.0) as usize;
        let of = |number: usize| {
            let half = RADIUS * (Vector3::repeat(1.0) + 0.25 * random.vector());
            let (_, volume, moments) = body(number % 5, half);
            let (layer, cell) = (number / (columns * columns), number % (columns * columns));
            let place = |i: usize| CELL[0] * (i as f64 - 0.5 * (columns as f64 - 1.0));
            let p = Vector3::new(place(cell % columns), place(cell / columns), CELL[1] * (layer as f64 + 0.5));
            let X_WB = RigidTransform::from_parts(p.into(), Rotation::new(TILT * random.vector()));
            let mass = DENSITY * volume;
            Body { kind: number % 5, half, mass, moments: mass * moments, X_WB }
        };
        let bodies: Vec<Body> = (0..count).map(of).collect();
        let high = bodies.last().map_or(0.0, |body| body.X_WB.translation.z) + CELL[1];
        Self { bodies, width, high }
    }

    /// The walls and the floor: names, positions of their centres, and sizes \[m\].
    pub(crate) fn walls(&self) -> [(&'static str, [f64; 3], [f64; 3]); 5] {
        let (width, high) = (self.width, self.high);
        let (whole, beside) = (width + 2.0 * THICK, 0.5 * (width + THICK));
        [
            ("floor", [0.0, 0.0, -0.5 * THICK], [whole, whole, THICK]),
            ("left", [-beside, 0.0, 0.5 * high], [THICK, width, high]),
            ("right", [beside, 0.0, 0.5 * high], [THICK, width, high]),
            ("front", [0.0, -beside, 0.5 * high], [whole, THICK, high]),
            ("back", [0.0, beside, 0.5 * high], [whole, THICK, high]),
        ]
    }

    /// The largest distance by which a centre is beyond the inner faces of the box \[m\].
    pub(crate) fn outside(&self, centres: impl Iterator<Item = Vector3>) -> f64 {
        let beyond = |p: Vector3| (p.x.abs().max(p.y.abs()) - 0.5 * self.width).max(-p.z);
        centres.map(beyond).fold(0.0, f64::max)
    }
}

/// Bodies of a compliant or rigid material between rigid `walls`, with friction of 0.5. Body number i has the
/// index i + 1.
pub(crate) fn scene(
    bodies: &[Body],
    walls: &[(&str, [f64; 3], [f64; 3])],
    soft: bool,
    gravity: f64,
) -> (Scene, isobar::multibody::State) {
    let mut builder = SceneBuilder::new();
    let material = ContactProperties {
        compliant: Some(soft),
        hydroelastic_modulus: soft.then_some(MODULUS),
        mu_dynamic: Some(0.5),
        ..ContactProperties::default()
    };
    let wall = ContactProperties { compliant: Some(false), hydroelastic_modulus: None, ..material.clone() };
    for (name, [x, y, z], size) in walls {
        let shape = Shape::Box { size: (*size).into() };
        let X_WG = RigidTransform::translation(*x, *y, *z);
        builder.add_geometry(BodyIndex::WORLD, name, X_WG, shape, &wall).expect("a wall");
    }
    let mut poses = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        let inertia =
            SpatialInertia::from_central(body.mass, &Vector3::zeros(), &Matrix3::from_diagonal(&body.moments));
        let index = builder.add_body(&format!("body_{number}"), inertia);
        let shape = self::body(body.kind, body.half).0;
        builder.add_geometry(index, "shape", RigidTransform::identity(), shape, &material).expect("a geometry");
        poses.push((index, body.X_WB));
    }
    let scene = builder.build(Vector3::new(0.0, 0.0, -gravity)).expect("a scene");
    let mut state = scene.model().default_state();
    for (index, X_WB) in &poses {
        scene.model().set_free_body_pose(&mut state, *index, X_WB);
    }
    (scene, state)
}
