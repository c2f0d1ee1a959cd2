//! Notes of a filling: pressures, parts that were left out, lost volume.

use super::{
    Filling, HINTED_TETS_MAX, LIMIT_SHARE, MISS_MAX, MISSED_AREA_MAX, NOTED_VOLUME_ERROR, SLIT_HINT, SLIT_SPACING,
    TETS_MAX, TETS_PER_CELL, TOLERANCE_SLACK, VOLUME_ERROR_MAX, WRAP_ROUNDS, WRAP_SPACING,
};
use crate::geometry::MeshNote;
use crate::geometry::surface_check::Position;

impl Filling {
    /// The position of a part of the surface that was left out because it is thinner than the lattice, and
    /// its distance from the filling \[m\]; `None` if nothing was left out.
    pub fn left_out(&self) -> Option<(Position, f64)> {
        let missed = self.quality.surface_to_filling;
        let is_missed = missed > MISS_MAX * self.spacing || self.quality.missed_area > MISSED_AREA_MAX;
        is_missed.then_some((self.missed_at, missed))
    }

    /// The distance of a wrap that keeps the parts that were left out, as plates \[m\], if no hint suffices
    /// and the filling is no wrap itself. Each side of a plate moves out by half the distance, which adds to
    /// the volume that is filled.
    pub fn sufficient_wrap(&self) -> Option<f64> {
        let enclosed = self.quality.volume / (1.0 + self.quality.volume_error);
        let plates = 0.5 * self.quality.missed_area * self.area;
        let enough = |distance: f64| {
            let volume = enclosed + plates * distance;
            WRAP_SPACING * (TETS_PER_CELL * volume / (LIMIT_SHARE * TETS_MAX as f64)).cbrt()
        };
        let is_wanted = self.left_out().is_some() && self.sufficient_hint.is_none() && !self.is_wrap;
        // Each round leaves a third of the error at most.
        is_wanted.then(|| (0..WRAP_ROUNDS).fold(0.0, |distance, _| enough(distance)))
    }

    /// The pressure at each vertex \[Pa\]: `modulus` \[Pa\] times the distance to the surface over the
    /// largest distance inside or over half the local thickness ([`FieldScale`](super::FieldScale)).
    pub fn pressure(&self, modulus: f64) -> Vec<f64> {
        match &self.thickness {
            None => self.depth.iter().map(|depth| modulus * (depth / self.deepest)).collect(),
            Some(thickness) => {
                self.depth.iter().zip(thickness).map(|(depth, thickness)| modulus * (depth / thickness)).collect()
            }
        }
    }

    /// Notes about a part that was left out, a wrong volume, and a tolerance that was not met.
    pub fn notes(&self) -> impl Iterator<Item = MeshNote> {
        let (spacing, area, hint) = (self.spacing, self.quality.missed_area, self.sufficient_hint);
        let wrap = self.sufficient_wrap();
        let left_out =
            self.left_out().map(|(at, distance)| MeshNote::LeftOut { at, distance, spacing, area, hint, wrap });
        let (error, tets) = (self.quality.volume_error, self.mesh.tets.len());
        let wrong_volume = (error.abs() > self.volume_error_max()).then_some(MeshNote::Volume {
            error,
            spacing,
            tets,
            hint: self.volume_hint(),
        });
        let closed = self.closed.map(|error| MeshNote::Closed { error });
        let miss = self.miss();
        let off = self.surface_tolerance.filter(|_| self.is_off()).map(|tolerance| MeshNote::Off {
            distance: miss,
            at: self.missed_at,
            tolerance,
            spacing,
        });
        left_out.into_iter().chain(wrong_volume).chain(closed).chain(off)
    }

    /// The share of the volume by which the filling may be off without a note. The volume of a wrap and of
    /// united parts is measured less closely than that of a closed surface. [-]
    fn volume_error_max(&self) -> f64 {
        let is_united = self.surface.intersections > 0 || self.surface.shared_edges > 0;
        match (self.is_wrap, is_united) {
            (true, _) => VOLUME_ERROR_MAX,
            (false, true) => 2.0 * NOTED_VOLUME_ERROR,
            (false, false) => NOTED_VOLUME_ERROR,
        }
    }

    /// A resolution hint with which the volume is off by less than 1 % \[m\]; `None` if it would exceed the
    /// limit of tetrahedra.
    pub fn volume_hint(&self) -> Option<f64> {
        let enclosed = self.quality.volume / (1.0 + self.quality.volume_error);
        let thickness = 2.0 * enclosed / self.area;
        // The error of chords falls with the square of the edges, and that of slits ends when two fit in a
        // wall.
        let chords = 0.8 * (NOTED_VOLUME_ERROR / self.quality.volume_error.abs()).sqrt() * self.spacing;
        let hint = if thickness < SLIT_SPACING * self.spacing { chords.min(SLIT_HINT * thickness) } else { chords };
        let rounded = 10_f64.powf(hint.log10().floor() - 1.0);
        let hint = (hint / rounded).floor() * rounded;
        (TETS_PER_CELL * enclosed / hint.powi(3) < LIMIT_SHARE * HINTED_TETS_MAX as f64).then_some(hint)
    }

    /// Whether the filling misses the surface by more than a given tolerance.
    pub(super) fn is_off(&self) -> bool {
        self.surface_tolerance.is_some_and(|tolerance| self.miss() > TOLERANCE_SLACK * tolerance)
    }

    /// The largest distance between the surface and the filling's boundary \[m\], at samples of both.
    pub fn miss(&self) -> f64 {
        self.quality.surface_to_filling.max(self.quality.filling_to_surface)
    }
}
