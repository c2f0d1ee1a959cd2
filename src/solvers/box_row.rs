//! A scalar row of a convex problem: one velocity and its impulse.

/// A scalar row u = c v_i and the impulse
///   gamma = clamp((v_hat - u) / R, lower, upper)   [N s] or [N m s],
/// the negative gradient of a convex potential. Actuators with effort limits, joint limits and dry friction
/// all have this form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxRow {
    /// The generalized velocity v_i.
    pub dof: u32,
    /// c [-].
    pub coefficient: f64,
    /// v_hat: the speed at which the unclamped impulse is zero [m/s] or [rad/s].
    pub target: f64,
    /// R > 0: regularization [1/kg] or [1/(kg m2)].
    pub regularization: f64,
    /// Smallest impulse [N s] or [N m s].
    pub lower: f64,
    /// Largest impulse [N s] or [N m s].
    pub upper: f64,
}

impl BoxRow {
    /// u = c v_i [m/s] or [rad/s].
    pub fn speed(&self, v: &[f64]) -> f64 {
        self.coefficient * v[self.dof as usize]
    }
    /// The impulse at speed `u`, and minus its derivative.
    pub fn impulse(&self, u: f64) -> (f64, f64) {
        let stiffness = 1.0 / self.regularization;
        let free = (self.target - u) * stiffness;
        if free <= self.lower {
            (self.lower, 0.0)
        } else if free >= self.upper {
            (self.upper, 0.0)
        } else {
            (free, stiffness)
        }
    }
}
