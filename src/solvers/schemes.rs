//! The contact of a face in the schemes that do not lag friction: similar, SAP and TAMSI.
//!
//! With vn, vt and the other symbols of the face kernel, friction at the centroid of the face, and the normal
//! law n(v) = dt (fe0 - (dt + tau) k v)+ (1 - d v)+ [N s]:
//!
//! *Similar* [Castro 2023]: with s = sqrt(|vt|^2 + eps^2), t = vt/s and z = vn - mu (s - eps),
//!   gamma = n(z) (n - mu t),   G = -n'(z) (n - mu t)(n - mu t)^T + (mu n(z)/s)(1 - n n^T - t t^T).
//!
//! *SAP* [Castro 2021]: with y = ((fe0/r - vn)/Rn, -vt/Rt), r = (dt + tau) k, the inverse effective mass w of
//! the face, Rn = max(beta^2 w/(4 pi^2), 1/(dt r)) and Rt = sigma w, gamma is the projection of y on the cone
//! |gamma_t| <= mu gamma_n in the norm of diag(Rt, Rt, Rn).
//!
//! *TAMSI* [Castro 2019]: with x = |vt|/v_s and g(x) = x (2 - x) below x = 1 and 1 from there,
//!   gamma = n(vn) (n - mu g(x) vt/|vt|).
//!
//! G = -d gamma/d v. The first two are negative gradients of convex potentials, so that G is symmetric and
//! positive semidefinite. That of TAMSI is not symmetric: its friction follows the normal force of the same
//! velocity.

use super::face_scheme::FaceScheme;
use super::patch_block::PatchBlock;
use crate::math::lanes::LANES;
use crate::math::{Matrix3, Matrix6, SpatialForce, SpatialVelocity, Vector3};

/// A face of the schemes.
struct Face {
    p_CF: Vector3,
    n: Vector3,
    vn: f64,
    vt: Vector3,
    /// fe0 \[N\] and r = (dt + tau) k [N s/m].
    elastic_force: f64,
    force_rate: f64,
    /// eps [m/s].
    slip_scale: f64,
    /// w [1/kg].
    inverse_mass: f64,
}

/// The impulse of a face on B [N s], its normal part, and G \[kg\].
struct FaceResponse {
    gamma: Vector3,
    normal: f64,
    G: Matrix3,
}

impl PatchBlock {
    /// Sets the scheme of the faces. Call it between [`PatchBlock::reset`] and the first column; lagged
    /// friction needs no call.
    pub fn set_scheme(&mut self, scheme: FaceScheme) {
        self.scheme = scheme;
    }
    /// The scheme of the faces.
    pub fn scheme(&self) -> FaceScheme {
        self.scheme
    }

    /// Fixes the regularization of the faces that [`PatchBlock::push_face`] added: stores w of each.
    pub(super) fn set_inverse_masses(&mut self) {
        self.face_inverse_masses.clear();
        if !matches!(self.scheme, FaceScheme::Sap { .. }) {
            return;
        }
        for face in 0..self.len() {
            let p = self.lanes[face / LANES].p_CF.get(face % LANES);
            // W = J_F A^-1 J_F^T with v_F = v - [p] w
            let at_C = &self.inverse_mass;
            let block = |i, j| Matrix3::from(at_C.fixed_view::<3, 3>(i, j));
            let skew = p.cross_matrix();
            let W = block(3, 3) - skew * block(0, 3) - block(3, 0) * skew.transpose()
                + skew * block(0, 0) * skew.transpose();
            self.face_inverse_masses.push(W.norm() / 3.0);
        }
    }

    fn scheme_face(&self, face: usize, V: &SpatialVelocity) -> Face {
        let (faces, lane) = (&self.lanes[face / LANES], face % LANES);
        let (p_CF, n) = (faces.p_CF.get(lane), faces.normal.get(lane));
        let v = V.shift(&p_CF).v;
        let slip = v + self.surface_velocity;
        Face {
            p_CF,
            n,
            vn: v.dot(&n),
            vt: slip - n * slip.dot(&n),
            elastic_force: faces.elastic_force.0[lane],
            force_rate: faces.force_rate.0[lane],
            slip_scale: faces.slip_scale_squared.0[lane].sqrt(),
            inverse_mass: self.face_inverse_masses.get(face).copied().unwrap_or(0.0),
        }
    }

    /// n(v) [N s] and -n'(v) \[kg\] of a face.
    fn normal_law(&self, face: &Face, v: f64) -> (f64, f64) {
        let (step, d) = (self.law.step, self.hunt_crossley);
        let (elastic, damping) = (face.elastic_force - face.force_rate * v, 1.0 - d * v);
        if elastic <= 0.0 || damping <= 0.0 {
            return (0.0, 0.0);
        }
        (step * elastic * damping, step * (face.force_rate * damping + d * elastic))
    }

    fn respond(&self, face: &Face) -> FaceResponse {
        match self.scheme {
            FaceScheme::Similar => self.similar(face),
            FaceScheme::Sap { near_rigid } => self.project(face, near_rigid),
            FaceScheme::Lagged | FaceScheme::Tamsi => self.coupled(face),
        }
    }

    fn similar(&self, face: &Face) -> FaceResponse {
        let (mu, n, eps) = (self.law.friction, face.n, face.slip_scale);
        let s = face.vt.norm().hypot(eps);
        let t = face.vt / s;
        let (normal, slope) = self.normal_law(face, face.vn - mu * (s - eps));
        let direction = n - t * mu;
        let tangents = Matrix3::identity() - n * n.transpose() - t * t.transpose();
        let G = direction * (direction * slope).transpose() + tangents * (mu * normal / s);
        FaceResponse { gamma: direction * normal, normal, G }
    }

    fn project(&self, face: &Face, near_rigid: f64) -> FaceResponse {
        let none = FaceResponse { gamma: Vector3::zeros(), normal: 0.0, G: Matrix3::zeros() };
        let (law, n, r) = (&self.law, face.n, face.force_rate);
        if r <= 0.0 {
            return none;
        }
        let rigid = (near_rigid / std::f64::consts::TAU).powi(2) * face.inverse_mass;
        let (Rn, Rt) = (rigid.max(1.0 / (law.step * r)), law.friction_compliance * face.inverse_mass);
        let yn = (face.elastic_force / r - face.vn) / Rn;
        let along_normal = n * n.transpose();
        let mu = law.friction;
        let slip = face.vt.norm();
        // A face between bodies that cannot move has no Rt: it slides at any slip
        if slip <= mu * yn * Rt {
            let yt = if Rt > 0.0 { face.vt * (-1.0 / Rt) } else { Vector3::zeros() };
            let tangents = if Rt > 0.0 { (Matrix3::identity() - along_normal) / Rt } else { Matrix3::zeros() };
            return FaceResponse { gamma: n * yn + yt, normal: yn, G: along_normal / Rn + tangents };
        }
        // mu^ |yt| = mu |vt|/Rn, which needs no Rt
        let (mu_hat_yr, coupling) = (mu * slip / Rn, 1.0 + mu * mu * Rt / Rn);
        if yn + mu_hat_yr <= 0.0 {
            return none;
        }
        let normal = (yn + mu_hat_yr) / coupling;
        let t = if slip > 0.0 { face.vt / slip } else { Vector3::zeros() };
        let direction = n - t * mu;
        let turn = if slip > 0.0 { mu * normal / slip } else { 0.0 };
        let tangents = Matrix3::identity() - along_normal - t * t.transpose();
        let G = direction * direction.transpose() / (Rn * coupling) + tangents * turn;
        FaceResponse { gamma: direction * normal, normal, G }
    }

    fn coupled(&self, face: &Face) -> FaceResponse {
        let (mu, n, v_s) = (self.law.friction, face.n, self.law.stiction_tolerance);
        let (normal, slope) = self.normal_law(face, face.vn);
        let slip = face.vt.norm();
        let x = slip / v_s;
        // g/|vt| and t d(g/|vt|)/d|vt| |vt|: below v_s, g/|vt| = (2 - x)/v_s
        let (over_slip, change) = if x < 1.0 { ((2.0 - x) / v_s, -x / v_s) } else { (1.0 / slip, -1.0 / slip) };
        let direction = n - face.vt * (mu * over_slip);
        let t = if slip > 0.0 { face.vt / slip } else { Vector3::zeros() };
        let tangents = (Matrix3::identity() - n * n.transpose()) * over_slip + t * t.transpose() * change;
        let G = direction * (n * slope).transpose() + tangents * (mu * normal);
        FaceResponse { gamma: direction * normal, normal, G }
    }

    /// Impulse on B of the faces about C.
    pub(super) fn scheme_impulse(&self, V: &SpatialVelocity) -> SpatialForce {
        let (mut tau, mut f) = (Vector3::zeros(), Vector3::zeros());
        for face in 0..self.len() {
            let face = self.scheme_face(face, V);
            let gamma = self.respond(&face).gamma;
            f += gamma;
            tau += face.p_CF.cross(&gamma);
        }
        SpatialForce::new(tau, f)
    }

    /// Impulse on B of the faces about C. `hessian` becomes minus its derivative in V, which is not symmetric
    /// in the scheme TAMSI. With c = [p_CF]: H = [c G c^T, c G; G c^T, G], summed over the faces.
    pub(super) fn scheme_hessian(&self, V: &SpatialVelocity, hessian: &mut Matrix6) -> SpatialForce {
        let (mut tau, mut f) = (Vector3::zeros(), Vector3::zeros());
        hessian.fill(0.0);
        for face in 0..self.len() {
            let face = self.scheme_face(face, V);
            let FaceResponse { gamma, G, .. } = self.respond(&face);
            f += gamma;
            tau += face.p_CF.cross(&gamma);
            let c = face.p_CF.cross_matrix();
            let (cG, Gc) = (c * G, G * c.transpose());
            let mut add = |i, j, block: Matrix3| {
                let mut view = hessian.fixed_view_mut::<3, 3>(i, j);
                view += block;
            };
            add(0, 0, cG * c.transpose());
            add(0, 3, cG);
            add(3, 0, Gc);
            add(3, 3, G);
        }
        SpatialForce::new(tau, f)
    }

    /// The impulse of a face on B [N s], and its normal part.
    pub(super) fn scheme_face_impulse(&self, face: usize, V: &SpatialVelocity) -> (Vector3, f64) {
        let FaceResponse { gamma, normal, .. } = self.respond(&self.scheme_face(face, V));
        (gamma, normal)
    }

    /// The largest share alpha of the change `dV` of the relative velocity V of C, at most 1, by which the
    /// slip of no face turns by more than 60 degrees or passes its stiction region
    /// ([`slip_limit`]).
    pub(super) fn slip_limit(&self, V: &SpatialVelocity, dV: &SpatialVelocity) -> f64 {
        let mut share = 1.0_f64;
        for number in 0..self.len() {
            let face = self.scheme_face(number, V);
            let (normal, _) = self.normal_law(&face, face.vn);
            let dv = dV.shift(&face.p_CF).v;
            let (end, _) = self.normal_law(&face, face.vn + dv.dot(&face.n));
            // A face without a force has no friction that could change its direction
            if normal > 0.0 || end > 0.0 {
                let change = dv - face.n * dv.dot(&face.n);
                share = share.min(slip_limit(&face.vt, &change, self.law.stiction_tolerance));
            }
        }
        share
    }
}

/// tan of the largest turn of a slip velocity in an iteration, 60 degrees.
const TURN_MAX_TAN: f64 = 1.732_050_807_568_877_2;
/// Slip below this multiple of v_s has no direction [-].
const NO_SLIP: f64 = 1e-2;

/// The transition-aware line search [Castro 2019, section IV]: the largest share of the change `dv` of a slip
/// velocity `v` that keeps the derivative of friction meaningful. A slip that begins from rest ends at v_s/2
/// at most, one that would pass the stiction region stops in it where it is slowest, at v_s/2 if that is
/// rest, and outside it the slip turns by 60 degrees at most.
fn slip_limit(v: &Vector3, dv: &Vector3, v_s: f64) -> f64 {
    let (size, change, end) = (v.norm(), dv.norm(), (v + dv).norm());
    if change <= NO_SLIP * v_s {
        return 1.0;
    }
    if size <= NO_SLIP * v_s {
        return if end > v_s { 0.5 * v_s / change } else { 1.0 };
    }
    if size <= v_s {
        return 1.0;
    }
    // The nearest point of the path to rest
    let nearest = (-v.dot(dv) / (change * change)).clamp(0.0, 1.0);
    let least = (v + dv * nearest).norm();
    if least < v_s {
        if least > NO_SLIP * v_s {
            return nearest;
        }
        // Through rest: along v, down to v_s/2
        return nearest * (1.0 - 0.5 * v_s / size);
    }
    let along = v.dot(dv) / size;
    let aside = (dv - v * (along / size)).norm();
    // tan(angle) = alpha aside/(size + alpha along)
    let slope = aside - TURN_MAX_TAN * along;
    let turned = aside > TURN_MAX_TAN * (size + along);
    if turned && slope > 0.0 { (TURN_MAX_TAN * size / slope).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::DissipationLaw;
    use super::super::samples::{push_uneven_faces, start_patch};
    use super::*;
    use crate::math::{BlockDiagonal, Vector6};

    const SCHEMES: [FaceScheme; 3] = [FaceScheme::Similar, FaceScheme::Sap { near_rigid: 1.0 }, FaceScheme::Tamsi];

    fn patch(scheme: FaceScheme, dissipation: DissipationLaw) -> PatchBlock {
        let mut block = start_patch(dissipation, 1e-3);
        block.set_scheme(scheme);
        let masses: Vec<f64> = (0..36).map(|i| if i % 7 == 0 { 0.3 } else { 0.0 }).collect();
        block.compute_weights(&BlockDiagonal::from_dense(6, &masses));
        push_uneven_faces(&mut block, 0.0);
        block.lag_friction();
        block
    }

    /// The Hessian is minus the derivative of the impulse, while faces slide, stick and separate: central
    /// differences, whose error is of the order h^2 with the third derivatives of friction, 1/v_s^2.
    #[test]
    fn hessian_is_the_derivative_of_the_impulse_in_all_schemes() {
        let laws =
            [DissipationLaw::HuntCrossley { dissipation: 3.0 }, DissipationLaw::Linear { relaxation_time: 0.02 }];
        let slow = Vector6::new(0.02, -0.01, 0.01, 0.001, 0.002, -0.001);
        for (law, scheme) in laws.into_iter().flat_map(|law| SCHEMES.map(|scheme| (law, scheme))) {
            for V in [Vector6::new(0.3, -0.2, 0.4, 0.01, 0.02, -0.03), slow] {
                let block = patch(scheme, law);
                let mut H = Matrix6::zeros();
                let impulse = block.impulse_and_hessian(&SpatialVelocity::from_vector(&V), &mut H);
                assert_eq!(impulse, block.impulse(&SpatialVelocity::from_vector(&V)));
                let h = 1e-7;
                for j in 0..6 {
                    let at = |sign: f64| {
                        let mut shifted = V;
                        shifted[j] += sign * h;
                        block.impulse(&SpatialVelocity::from_vector(&shifted)).to_vector()
                    };
                    let column = (at(-1.0) - at(1.0)) / (2.0 * h);
                    let error = (column - H.column(j)).norm();
                    assert!(error < 1e-6 * H.norm(), "{scheme:?}, {law:?}, column {j}: {error:e} of {:e}", H.norm());
                }
                let asymmetry = (H - H.transpose()).norm() / H.norm();
                assert!(if scheme == FaceScheme::Tamsi { asymmetry > 1e-3 } else { asymmetry < 1e-13 }, "{scheme:?}");
            }
        }
    }

    /// Friction is mu times the normal impulse and opposes the slip, for each face that slides: exactly with
    /// SAP and TAMSI, and to (eps/|vt|)^2/2 with the soft norm of `similar`.
    #[test]
    fn friction_of_a_sliding_face_is_mu_times_its_own_normal_impulse() {
        for scheme in SCHEMES {
            let block = patch(scheme, DissipationLaw::Linear { relaxation_time: 0.0 });
            let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(1.0, 0.5, 0.0));
            for number in 0..block.len() {
                let face = block.scheme_face(number, &V);
                let (gamma, normal) = block.scheme_face_impulse(number, &V);
                let expected = face.vt * (-0.7 * normal / face.vt.norm());
                let error = (gamma - face.n * normal - expected).norm();
                let soft = 0.5 * (1e-2 / face.vt.norm()).powi(2);
                assert!(normal > 0.0 && error <= 0.7 * normal * (soft + 1e-12), "{scheme:?} {number}: {error:e}");
            }
        }
    }

    /// The limits of the transition-aware line search, case by case.
    #[test]
    fn slips_turn_by_at_most_60_degrees_and_do_not_pass_the_stiction_region() {
        let v_s = 1e-3;
        let limit = |v: [f64; 2], dv: [f64; 2]| {
            let (v, dv) = (Vector3::new(v[0], v[1], 0.0), Vector3::new(dv[0], dv[1], 0.0));
            let share = slip_limit(&v, &dv, v_s);
            (share, v + dv * share)
        };
        assert_eq!(limit([0.1, 0.0], [0.1, 0.0]).0, 1.0);
        assert_eq!(limit([0.1, 0.0], [0.0, 0.1]).0, 1.0);
        let (_, turned) = limit([0.1, 0.0], [-0.2, 0.2]);
        assert!((turned.y / turned.x - 60.0_f64.to_radians().tan()).abs() < 1e-12, "{turned}");
        let (_, begun) = limit([0.0, 0.0], [0.3, 0.0]);
        assert!((begun.norm() - 0.5 * v_s).abs() < 1e-15, "{begun}");
        let (_, stopped) = limit([0.1, 0.0], [-0.3, 0.0]);
        assert!((stopped.norm() - 0.5 * v_s).abs() < 1e-15, "{stopped}");
        let (_, grazed) = limit([0.1, 0.5e-3], [-0.3, 0.0]);
        assert!((grazed.norm() - 0.5 * v_s).abs() < 1e-15, "{grazed}");
    }
}
