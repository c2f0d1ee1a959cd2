//! The body-centred cubic lattice: two cubic grids of the same spacing, one at the centres of the other's
//! cells.
//!
//! In units of half a spacing, points of one grid have even coordinates and points of the other grid odd
//! ones. A tetrahedron has one long edge (the spacing h) in each grid, at right angles, and four short ones
//! (h √3/2) between the grids; all are congruent, and their dihedral angles are 60 and 90 degrees.

use crate::geometry::Aabb;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::math::Vector3;

/// Coordinates in units of half a spacing.
pub(super) type Site = [i32; 3];

/// Blocks of the lattice with at most this many half spacings along each axis are sampled point by point.
const BLOCK: i32 = 4;

/// The lattice over a box.
pub(super) struct Lattice {
    /// Half the spacing \[m\].
    half: f64,
    origin: Vector3,
    /// Largest coordinate along each axis; even.
    top: Site,
    /// Points of one grid along each axis.
    count: [usize; 3],
}

impl Lattice {
    /// The lattice of `spacing` \[m\] around `bounds`, with a point of the even grid in the middle and a
    /// margin of more than a cell on each side.
    pub(super) fn around(bounds: &Aabb, spacing: f64) -> Self {
        let half = 0.5 * spacing;
        let reach = bounds.half_extents().map(|extent| ((extent / spacing).ceil() as i32 + 2) * 2);
        let top = [2 * reach.x, 2 * reach.y, 2 * reach.z];
        Self {
            half,
            origin: bounds.center() - reach.map(f64::from) * half,
            top,
            count: top.map(|x| x as usize / 2 + 1),
        }
    }

    /// The number of point indices, used and unused.
    pub(super) fn len(&self) -> usize {
        2 * self.count[0] * self.count[1] * self.count[2]
    }

    /// The number of points that [`Lattice::around`] would make.
    pub(super) fn points(bounds: &Aabb, spacing: f64) -> f64 {
        bounds.half_extents().iter().map(|extent| 2.0 * (extent / spacing).ceil() + 5.0).product::<f64>() * 2.0
    }

    pub(super) fn number(&self, [i, j, k]: Site) -> u32 {
        let [nx, ny, nz] = self.count;
        let grid = (i & 1) as usize;
        ((((grid * nz + (k >> 1) as usize) * ny) + (j >> 1) as usize) * nx + (i >> 1) as usize) as u32
    }

    pub(super) fn site(&self, number: u32) -> Site {
        let [nx, ny, nz] = self.count;
        let number = number as usize;
        let odd = (number / (nx * ny * nz)) as i32;
        let rest = number % (nx * ny * nz);
        [(rest % nx) as i32 * 2 + odd, (rest / nx % ny) as i32 * 2 + odd, (rest / (nx * ny)) as i32 * 2 + odd]
    }

    pub(super) fn position(&self, site: Site) -> Vector3 {
        self.origin + Vector3::from(site.map(f64::from)) * self.half
    }

    pub(super) fn contains(&self, site: Site) -> bool {
        (0..3).all(|axis| site[axis] >= 0 && site[axis] <= self.top[axis])
    }

    /// The first point of each line of points along x.
    pub(super) fn lines(&self) -> impl Iterator<Item = Site> {
        let [_, y, z] = self.top;
        (0..=z).flat_map(move |k| (k & 1..=y).step_by(2).map(move |j| [k & 1, j, k]))
    }

    /// The signed distance at each point \[m\]; infinity at points known to be outside and farther away than
    /// the spacing.
    pub(super) fn sample(&self, surface: &SurfaceDistance) -> Vec<f64> {
        let mut phi = vec![f64::INFINITY; self.len()];
        let mut guess = 0;
        self.blocks(|low, high, is_leaf| {
            if is_leaf {
                self.each(low, high, |number, point| phi[number as usize] = surface.signed(&point, &mut guess));
                return true;
            }
            let (a, b) = (self.position(low), self.position(high));
            surface.signed(&((a + b) * 0.5), &mut guess) > 0.5 * (b - a).norm() + 2.0 * self.half
        });
        phi
    }

    /// Divides the lattice into blocks. `ends` gets the lowest and highest site of a block and whether it is
    /// divided no further, and returns whether the block is done.
    pub(super) fn blocks(&self, mut ends: impl FnMut(Site, Site, bool) -> bool) {
        let mut blocks = vec![([0; 3], self.top)];
        while let Some((low, high)) = blocks.pop() {
            let extent: [i32; 3] = std::array::from_fn(|axis| high[axis] - low[axis]);
            let axis = (0..3).max_by_key(|axis| (extent[*axis], *axis)).unwrap_or(0);
            let is_leaf = extent[axis] <= BLOCK;
            if ends(low, high, is_leaf) || is_leaf {
                continue;
            }
            let mut middle = high;
            middle[axis] = low[axis] + extent[axis] / 2;
            let mut next = low;
            next[axis] = middle[axis] + 1;
            blocks.push((next, high));
            blocks.push((low, middle));
        }
    }

    /// Calls `visit` with the number and position of each point of a block.
    pub(super) fn each(&self, low: Site, high: Site, mut visit: impl FnMut(u32, Vector3)) {
        for k in low[2]..=high[2] {
            for j in (low[1]..=high[1]).filter(|j| (j ^ k) & 1 == 0) {
                for i in (low[0]..=high[0]).filter(|i| (i ^ k) & 1 == 0) {
                    let site = [i, j, k];
                    // The last odd plane lies beyond the even grid's last cell.
                    if self.contains(site) {
                        visit(self.number(site), self.position(site));
                    }
                }
            }
        }
    }
}
