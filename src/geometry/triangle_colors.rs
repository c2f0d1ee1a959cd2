//! The colours of a surface's triangles, for pictures.

/// A colour, or none, for each triangle of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleColors {
    /// The different colours: red, green and blue in 0..1 as a screen shows them (sRGB). `None` stands for
    /// triangles without a colour.
    pub palette: Vec<Option<[f32; 3]>>,
    /// The place in the palette, for each triangle.
    pub of_triangle: Vec<u32>,
}

impl TriangleColors {
    /// The colour of the triangle with that number, if it has one.
    pub fn of(&self, triangle: usize) -> Option<[f32; 3]> {
        let place = *self.of_triangle.get(triangle)?;
        self.palette.get(place as usize).copied().flatten()
    }
}
