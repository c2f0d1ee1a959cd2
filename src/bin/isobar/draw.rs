//! The command `isobar draw`: it renders a drawing file to a PNG file.
#![allow(non_snake_case)]

use std::error::Error;
use std::path::PathBuf;

use isobar::geometry::SurfaceMesh;
use isobar::io::drawing_file::{self, DrawnSurface};
use isobar::io::package::PackageMap;
use isobar::math::{RigidTransform, Vector3};
use isobar::picture::{self, Camera, Canvas, Coat, Gloss, Paint, Projection, Solid};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Drawing file (JSON), as scripts/render_rviz writes it.
    drawing: PathBuf,
    /// The PNG file to write.
    #[arg(long, value_name = "FILE.png", default_value = "drawing.png")]
    out: PathBuf,
    /// The folder of a package in `package://NAME/...`; takes precedence over AMENT_PREFIX_PATH and
    /// ROS_PACKAGE_PATH.
    #[arg(long = "package", value_name = "NAME=PATH", value_parser = super::parse_package)]
    packages: Vec<(String, PathBuf)>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut packages = PackageMap::from_environment();
    for (name, path) in &arguments.packages {
        packages.insert(name, path);
    }
    let drawing = drawing_file::read(&arguments.drawing, &packages)?;
    drawing.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    let projection = Projection::Perspective { field_of_view: drawing.field_of_view };
    let camera = Camera::look_at(&drawing.eye, &drawing.target, &Vector3::z(), projection);
    let mut canvas = Canvas::new(drawing.size.0, drawing.size.1, camera, drawing.background)?;
    for ([from, to], color) in &drawing.lines {
        canvas.line(from, to, 1.0, *color, 0.0);
    }
    for shape in &drawing.shapes {
        let [r, g, b, alpha] = shape.color.map(|channel| channel as f32);
        let visual = Solid::from_visual(&shape.shape, shape.mesh_colors.as_deref(), [r, g, b]);
        let Some((solid, colors)) = visual else { continue };
        let coat = colors.as_ref().map_or(Coat::Plain([r, g, b]), |colors| Coat::Colors(&colors.vertices));
        canvas.solid(&solid, &shape.X_WS, &Paint { coat, alpha, gloss: Gloss::Satin })?;
    }
    for surface in &drawing.surfaces {
        draw_surface(&mut canvas, surface)?;
    }
    picture::write_png(&canvas.finish(), &arguments.out)?;
    print_line!("{}", arguments.out.display());
    Ok(())
}

fn draw_surface(canvas: &mut Canvas, surface: &DrawnSurface) -> Result<(), picture::PictureError> {
    let count = surface.vertices.len() as u32;
    let triangles = (0..count).step_by(3).map(|first| [first, first + 1, first + 2]).collect();
    let X_WS = RigidTransform::identity();
    if surface.colors.is_empty() {
        let mesh = SurfaceMesh { vertices: surface.vertices.clone(), triangles };
        return canvas.solid(&Solid::from_surface(&mesh), &X_WS, &Paint::plain(surface.color, surface.alpha));
    }
    // Vertex colours are not shaded, so the normals are not used.
    let normals = vec![Vector3::zeros(); surface.vertices.len()];
    let solid = Solid { vertices: surface.vertices.clone(), normals, triangles, creases: Vec::new() };
    let paint = Paint { coat: Coat::Colors(&surface.colors), alpha: surface.alpha, gloss: Gloss::Flat };
    canvas.solid(&solid, &X_WS, &paint)
}
