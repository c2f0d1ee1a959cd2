//! Labels that do not overlap: each stands at its point, or farther away with a line to it.

use super::image::{Align, Image};
use super::legend;
use super::{FAINT_INK, INK, text};

/// The forces that are labelled with their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// The largest first, each at a free position; labels without a free position are left out and counted.
    #[default]
    Apart,
    /// None.
    Hidden,
}

/// A label for a point.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) text: String,
    /// The point \[px\].
    pub(super) at: [f64; 2],
    /// Labels with a larger rank are placed first.
    pub(super) rank: f64,
}

/// A rectangle of the picture: left, top, right, bottom \[px\].
pub(super) type Region = [f64; 4];

/// Radii of the rings of positions around a point, in heights of capitals.
const RINGS: [f64; 5] = [0.0, 1.7, 2.8, 4.2, 6.0];
/// Positions on a ring.
const POSITIONS: usize = 12;
/// Room around a text, in heights of its capitals.
const ROOM: f64 = 0.3;
/// A label farther away than this many heights of capitals has a line that leads to its point.
const LEAD: f64 = 2.0;

/// The positions of the labels, as the middle of each base line \[px\], in the order given; `None` for a
/// label without a position outside of `taken` and the other labels. Labels of higher rank are placed first,
/// and labels of equal rank in the order given.
pub(super) fn label_positions(
    labels: &[Label],
    size: f64,
    taken: &[Region],
    (width, height): (f64, f64),
) -> Vec<Option<[f64; 2]>> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| labels[*b].rank.total_cmp(&labels[*a].rank).then(a.cmp(b)));
    let mut taken = taken.to_vec();
    let mut chosen = vec![None; labels.len()];
    for index in order {
        let label = &labels[index];
        let free = |at: &[f64; 2]| {
            let region = region(&label.text, *at, size);
            region[0] >= 0.0
                && region[1] >= 0.0
                && region[2] <= width
                && region[3] <= height
                && !taken.iter().any(|other| overlap(other, &region))
        };
        if let Some(at) = positions(label.at, size).find(free) {
            taken.push(region(&label.text, at, size));
            chosen[index] = Some(at);
        }
    }
    chosen
}

/// Writes the labels and returns the number that were left out.
pub(super) fn write(image: &mut Image, labels: &[Label], taken: &[Region]) -> usize {
    let size = legend::text_size(image.height());
    let positions = label_positions(labels, size, taken, (image.width() as f64, image.height() as f64));
    for (label, at) in labels.iter().zip(&positions) {
        let Some(at) = at else { continue };
        let middle = [at[0], at[1] - 0.5 * size];
        if (middle[0] - label.at[0]).hypot(middle[1] - label.at[1]) > LEAD * size {
            image.stroke(&[vec![label.at, middle]], 1.0, FAINT_INK);
        }
    }
    for (label, at) in labels.iter().zip(&positions) {
        let Some(at) = at else { continue };
        legend::outlined(image, &label.text, *at, size, (Align::Center, INK));
    }
    positions.iter().filter(|at| at.is_none()).count()
}

/// The point itself, then rings around it, starting on the right.
fn positions(at: [f64; 2], size: f64) -> impl Iterator<Item = [f64; 2]> {
    RINGS.into_iter().flat_map(move |ring| {
        let count = if ring == 0.0 { 1 } else { POSITIONS };
        (0..count).map(move |k| {
            let (sine, cosine) = (std::f64::consts::TAU * k as f64 / count as f64).sin_cos();
            // A text is wider than it is high.
            [at[0] + 1.6 * ring * size * cosine, at[1] + ring * size * sine]
        })
    })
}

/// The rectangle of a text with the middle of its base line at `at`.
fn region(label: &str, at: [f64; 2], size: f64) -> Region {
    let half = 0.5 * text::width(label, size) + ROOM * size;
    [at[0] - half, at[1] - (1.0 + ROOM) * size, at[0] + half, at[1] + ROOM * size]
}

fn overlap(a: &Region, b: &Region) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forty labels at nearly one point: the visible ones do not overlap, lie inside the picture and outside
    /// of the taken rectangles, and the largest stands at its point.
    #[test]
    fn labels_give_way_to_each_other() {
        let labels: Vec<_> = (0..40)
            .map(|k| Label { text: format!("{k}.0 N"), at: [200.0 + f64::from(k % 5), 150.0], rank: f64::from(k) })
            .collect();
        let taken = [[0.0, 0.0, 400.0, 100.0]];
        let positions = label_positions(&labels, 10.0, &taken, (400.0, 300.0));
        let regions: Vec<_> = labels
            .iter()
            .zip(&positions)
            .filter_map(|(label, at)| at.map(|at| region(&label.text, at, 10.0)))
            .chain(taken)
            .collect();
        assert_eq!(positions[39], Some([204.0, 150.0]));
        assert!(regions.len() > 12, "{} of 40 are shown", regions.len() - 1);
        for (i, a) in regions.iter().enumerate() {
            assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= 400.0 && a[3] <= 300.0);
            assert!(regions[..i].iter().all(|b| !overlap(a, b)), "{a:?}");
        }
    }
}
