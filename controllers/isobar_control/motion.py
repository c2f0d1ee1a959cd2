"""Differential inverse kinematics: joint speeds that bring the tip of a chain towards a pose in one control
period.

Near singular poses the least squares are damped [Nakamura & Hanafusa 1986]. A joint that would leave its
range is locked, and the problem is solved again for the others. If a joint would exceed its speed limit, the
speeds of all joints are reduced in proportion. Redundant joints return to a posture. The equations and
constants are those of src/experiments/keyframes/differential.rs.
"""

import numpy as np

from .robot import rotation_vector

# The length that counts as much as an angle of 1 rad [m]: about the size of an arm's links.
LENGTH = 0.3
# Below this manipulability, sqrt(det(J J^T)) with lengths in LENGTH, the least squares are damped [-].
MANIPULABILITY_MIN = 0.05
# Damping at a singular pose, and the smallest damping, which is against rounding [-].
DAMPING_MAX = 0.08
DAMPING_MIN = 1e-5
# The largest number of Newton steps in one control period. They end when the commanded pose is within the
# tolerance [m] or [rad], or at a speed limit.
ITERATIONS_MAX = 8
ERROR_TOLERANCE = 1e-4
# The rate at which redundant joints return to the initial posture of the arm, without moving the tool [1/s].
POSTURE_RATE = 0.5
# Joints stay this far from their limits [rad].
LIMIT_MARGIN = 0.02


class DifferentialInverse:
    """Follows poses from period to period. `q` is the commanded position, not the measured one."""

    def __init__(self, chain, q, speed=1.0):
        self.chain = chain
        self.q = np.array(q, dtype=float)
        self.posture = self.q.copy()
        self.limits = speed * chain.speed
        self.speeds = np.zeros(len(self.q))

    def error_of(self, R, p, R_now, p_now):
        return np.concatenate([rotation_vector(R @ R_now.T), p - p_now])

    def error(self, R, p):
        """The error of the commanded pose: rotation [rad] and translation [m]."""
        R_now, p_now, _ = self.chain.forward(self.q)
        return self.error_of(R, p, R_now, p_now)

    def advance(self, R, p, dt):
        """Moves towards R, p within `dt` [s], as far as the speed limits and ranges of the joints allow.

        Returns the part of the wanted speeds that the speed limits allow.
        """
        start, total, part = self.q, np.zeros(len(self.q)), 1.0
        R_now, p_now, J = self.chain.forward(self.q)
        for iteration in range(ITERATIONS_MAX):
            error = self.error_of(R, p, R_now, p_now)
            total = total + self.wanted_speeds(J, error / dt, dt, iteration == 0)
            part = 1.0 / max(1.0, float(np.max(np.abs(total) / self.limits)))
            self.speeds = total * part
            self.q = start + dt * self.speeds
            R_now, p_now, J = self.chain.forward(self.q)
            if part < 1.0 or np.abs(self.error_of(R, p, R_now, p_now)).max() <= ERROR_TOLERANCE:
                break
        return part

    def wanted_speeds(self, J, V, dt, with_posture):
        """Joint speeds with J speeds = V, to first order in the step."""
        scale = np.array([1.0, 1.0, 1.0, 1.0 / LENGTH, 1.0 / LENGTH, 1.0 / LENGTH])
        J, V = J * scale[:, None], V * scale
        count = len(self.q)
        z = POSTURE_RATE * (self.posture - self.q) if with_posture and count > 6 else np.zeros(count)
        free, speeds = np.ones(count, dtype=bool), np.zeros(count)
        # Each pass locks at least one joint.
        for _ in range(count + 1):
            speeds = self.solve(J, V, z, free)
            following = self.q + dt * speeds
            beyond = (following > self.chain.upper - LIMIT_MARGIN) & (following > self.q)
            beyond |= (following < self.chain.lower + LIMIT_MARGIN) & (following < self.q)
            beyond &= free
            if not beyond.any():
                break
            free = free & ~beyond
        return speeds

    def solve(self, J, V, z, free):
        """z + J^T (J J^T + damping^2)^-1 (V - J z) of the joints that are free."""
        Jf, zf = J[:, free], z[free]
        gram = Jf @ Jf.T
        lack = max(0.0, 1.0 - np.sqrt(max(0.0, np.linalg.det(gram))) / MANIPULABILITY_MIN)
        damping = max(DAMPING_MAX * lack, DAMPING_MIN)
        weights = np.linalg.solve(gram + damping * damping * np.eye(6), V - Jf @ zf)
        speeds = np.zeros(len(free))
        speeds[free] = zf + Jf.T @ weights
        return speeds
