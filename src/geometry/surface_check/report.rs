//! The report of a check.

use super::defect::Position;

/// The findings and repairs of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceReport {
    /// Triangles that were given.
    pub triangles_given: usize,
    /// Vertices that were merged with another one at the same position or, in an open surface, near it.
    pub welded: usize,
    /// Triangles that were left out because they had no area or were duplicates.
    pub dropped: usize,
    /// Long edges of triangles without area that were flipped.
    pub flipped_edges: usize,
    /// Triangles that were turned around because they disagreed with their neighbours.
    pub turned: usize,
    /// Components that were turned inside out because they enclosed a negative volume.
    pub inverted: usize,
    /// Components: surfaces that share no edge.
    pub components: usize,
    /// Components that bound a hole inside another.
    pub cavities: usize,
    /// Cavities in which parts overlap: the material of one is taken away, that of another stays.
    pub filled_cavities: usize,
    /// Components that are inside out and partly in another: holes that stick out of it or end on its faces.
    pub holes: usize,
    /// Parts in such holes that lose what lies outside the bodies: there a hole takes it away.
    pub lost: usize,
    /// Triangles over such holes that were removed, at least in part: they bound nothing.
    pub lids: usize,
    /// Such holes that could not be cut, so that their lids remain.
    pub uncut: usize,
    /// Components that are inside out and partly in another without going through it: they were turned.
    pub doubtful: usize,
    /// Components that were left out because they lie inside the material of another.
    pub buried: usize,
    /// Open parts that were left out because they lie inside a closed one.
    pub loose: usize,
    /// Small holes that were closed.
    pub closed_holes: usize,
    /// Edges at holes that a wrap spans.
    pub open_edges: usize,
    /// Triangles in front of material thinner than half a wrap's distance, which the wrap thickens.
    pub sheets: usize,
    /// Pairs of triangles that go through each other; a point inside any part counts as inside.
    pub intersections: usize,
    /// The first such pair.
    pub intersection: Option<Intersection>,
    /// Edges with more than two triangles, as many in each direction.
    pub shared_edges: usize,
}

/// Two triangles that go through each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection {
    /// The triangles, counted from 0 as in the mesh given.
    pub triangles: [u32; 2],
    /// A point where they meet.
    pub at: Position,
}

impl SurfaceReport {
    /// The repairs in words; `None` if there were none.
    pub fn repairs(&self) -> Option<String> {
        let counted = [
            (self.welded, "vertices welded"),
            (self.dropped, "triangles without area dropped"),
            (self.flipped_edges, "edges of triangles without area flipped"),
            (self.turned, "triangles turned to agree with their neighbours"),
            (self.inverted, "components turned inside out"),
            (self.buried, "components inside the material of others left out"),
            (self.holes, "parts that are inside out and reach out of others taken as holes in them"),
            (self.lost, "parts in such holes lose what lies outside the bodies (let the holes end near the faces)"),
            (self.lids, "triangles of lids over holes removed or cut"),
            (
                self.uncut,
                "holes keep their lids, which a filling does not feel, but a rigid mesh does (`isobar mesh FILE --wrap 1mm` and `wrap: 0.001` open them, or subtract them in the program that drew them)",
            ),
            (
                self.doubtful,
                "parts that are inside out and end in others taken as bodies (a hole goes through, or ends on the faces)",
            ),
            (self.loose, "open parts inside closed ones left out"),
            (self.closed_holes, "small holes closed"),
            (
                self.filled_cavities,
                "cavities filled where several parts overlap in them (unite the parts in the program that drew them)",
            ),
            (self.open_edges, "edges at holes spanned by the wrap"),
            (self.sheets, "triangles of thin parts thickened by the wrap"),
        ];
        let mut words: Vec<String> =
            counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if let Some(Intersection { triangles: [a, b], at }) = self.intersection {
            let count = self.intersections;
            words.push(format!("parts united ({count} pairs of triangles intersect, the first {a} and {b} at {at})"));
        }
        (!words.is_empty()).then(|| words.join(", "))
    }
}
