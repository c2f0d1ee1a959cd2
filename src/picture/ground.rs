//! The ground: an infinite plane with a grid that fades out, and the soft shadows of objects on it.

use super::canvas::{Canvas, SAMPLES, cover};
use super::clip::{Corner, clip};
use super::color::{Color, PAPER, mix};
use super::solid::Solid;
use crate::math::{RigidTransform, Vector3};

/// Colour of the plane.
const PLANE: Color = [0.925, 0.932, 0.945];
/// Colour of its grid.
const LINE: Color = [0.74, 0.77, 0.81];
/// Colour of the shadow.
const SHADOW: Color = [0.50, 0.54, 0.62];
/// Objects deeper below the ground than this cast no shadow on it \[m\].
const SUNK: f64 = 1e-3;
/// The sine of the angle of view below which lines do not get broader. \[-\]
const GRAZING: f64 = 0.05;
/// One in this many lines is stronger.
const STRONG: i64 = 5;
/// The number of light directions, on a disc, whose shadows add up to a soft one.
const LIGHTS: usize = 40;
/// The angle between successive points, which spreads them evenly over a disc \[rad\].
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
/// The radius of that disc of light directions. \[-\]
const SPREAD: f64 = 0.14;

/// The plane z = 0 of a frame G, drawn before all objects.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Pose of G.
    pub X_WG: RigidTransform,
    /// Distance of the grid's lines \[m\].
    pub spacing: f64,
    /// The centre p_WC of the visible part \[m\].
    pub center_W: Vector3,
    /// The distance from there at which it fades out \[m\].
    pub reach: f64,
}

impl Canvas {
    /// Draws the ground and the shadows that `solids` cast on it, before all other objects.
    pub fn ground(&mut self, ground: &Ground, solids: &[(&Solid, RigidTransform)]) {
        let shadow = self.shadow(ground, solids);
        let (width, height) = self.samples();
        let camera = *self.camera();
        let X_GW = ground.X_WG.inverse();
        let center = X_GW.rotation * ground.center_W + X_GW.translation.vector;
        let (colors, depths) = self.layers();
        for y in 0..height {
            for x in 0..width {
                let (start, direction) = camera.ray(x as f64 + 0.5, y as f64 + 0.5, width as f64, height as f64);
                let (p, d) = (X_GW.rotation * start + X_GW.translation.vector, X_GW.rotation * direction);
                let t = -p.z / d.z;
                let hit = p + d * t;
                let view = camera.view(&(start + direction * t));
                if !t.is_finite() || view.z < camera.near() || p.z < 0.0 {
                    continue;
                }
                let away = (hit - center).xy().norm() / ground.reach;
                let fade = (1.0 - away).clamp(0.0, 1.0).powf(0.8) as f32;
                if fade <= 0.0 {
                    continue;
                }
                let at = y * width + x;
                let pixel = camera.pixel_size(view.z, height as f64 / SAMPLES as f64) / d.z.abs().max(GRAZING);
                let color = mix(PLANE, LINE, grid(hit.x, hit.y, ground.spacing, pixel));
                let dark = f32::from(shadow[at]) / LIGHTS as f32;
                let color = mix(color, SHADOW, 0.62 * dark);
                colors[at] = mix(PAPER, color, fade);
                depths[at] = camera.project(&view, width as f64, height as f64).depth;
            }
        }
    }

    /// The number of hidden lights at each sample.
    fn shadow(&self, ground: &Ground, solids: &[(&Solid, RigidTransform)]) -> Vec<u8> {
        let (width, height) = self.samples();
        let camera = *self.camera();
        let X_GW = ground.X_WG.inverse();
        let mut hidden = vec![0_u8; width * height];
        let mut stamp = vec![0_u8; width * height];
        for light in 0..LIGHTS {
            let (sine, cosine) = (GOLDEN_ANGLE * light as f64).sin_cos();
            let radius = SPREAD * ((light as f64 + 0.5) / LIGHTS as f64).sqrt();
            let lean = (0.10 + radius * cosine, -0.06 + radius * sine);
            let number = light as u8 + 1;
            for (solid, X_WS) in solids {
                let X_GS = X_GW * X_WS;
                let place = |vertex: &Vector3| {
                    let p = X_GS.rotation * vertex + X_GS.translation.vector;
                    let z = p.z.max(0.0);
                    let q = Vector3::new(p.x + lean.0 * z, p.y + lean.1 * z, 0.0);
                    let view = camera.view(&(ground.X_WG.rotation * q + ground.X_WG.translation.vector));
                    (p.z > -SUNK && view.iter().all(|x| x.is_finite())).then(|| Corner::bare(view))
                };
                let places: Vec<_> = solid.vertices.iter().map(place).collect();
                for triangle in &solid.triangles {
                    let [Some(a), Some(b), Some(c)] = triangle.map(|vertex| places[vertex as usize]) else { continue };
                    let cut = clip(&[a, b, c], &camera, width as f64 / height as f64);
                    let cut: Vec<_> =
                        cut.iter().map(|at| camera.project(&at.view, width as f64, height as f64)).collect();
                    for i in 2..cut.len() {
                        cover(&[cut[0], cut[i - 1], cut[i]], width, height, |x, y, _| {
                            let at = y * width + x;
                            if stamp[at] != number {
                                stamp[at] = number;
                                hidden[at] += 1;
                            }
                        });
                    }
                }
            }
        }
        hidden
    }
}

/// The strength of grid lines at the point (x, y) \[m\], if a pixel is `pixel` \[m\] wide. \[0 to 1\]
fn grid(x: f64, y: f64, spacing: f64, pixel: f64) -> f32 {
    let line = |v: f64| {
        let number = (v / spacing).round();
        let strong = number as i64 % STRONG == 0;
        let half = if strong { 0.9 } else { 0.55 } * pixel;
        let cover = ((half - (v - number * spacing).abs()) / pixel + 0.5).clamp(0.0, 1.0);
        // Lines closer together than a few pixels would make moiré patterns.
        let calm = (spacing / pixel / 6.0).min(1.0);
        cover * if strong { 1.0 } else { 0.6 } * calm
    };
    line(x).max(line(y)) as f32
}
