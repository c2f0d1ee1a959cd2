//! Laws of filled meshes.
use isobar::geometry::SurfaceMesh;
use isobar::geometry::fill::{FillSettings, fill};
use isobar::geometry::make::{boundary, cuboid, sphere};
use isobar::math::Vector3;

fn ball(h: f64) -> SurfaceMesh {
    boundary(&sphere(0.05, h)).unwrap()
}

#[test]
fn look() {
    for (name, mesh) in
        [("sphere", ball(0.004)), ("cube", boundary(&cuboid(&Vector3::new(0.05, 0.04, 0.03)).0).unwrap())]
    {
        for h in [0.03, 0.02, 0.015, 0.01, 0.007, 0.005] {
            let t = std::time::Instant::now();
            let f = fill(&mesh, &FillSettings { resolution_hint: Some(h), ..Default::default() });
            match f {
                Ok(f) => eprintln!(
                    "{name} h={h} r={} v={} t={} dih {:.2} {:.2} vol {:.2e} H {:.2e} {:.2e} deep {:.5} {:?}",
                    f.refinements,
                    f.mesh.vertices.len(),
                    f.mesh.tets.len(),
                    f.quality.dihedral_min.to_degrees(),
                    f.quality.dihedral_max.to_degrees(),
                    f.quality.volume_error,
                    f.quality.surface_to_filling,
                    f.quality.filling_to_surface,
                    f.depth_max(),
                    t.elapsed()
                ),
                Err(e) => eprintln!("{name} {h} {e}"),
            }
        }
    }
}
