"""Differential inverse kinematics: joint positions that follow the pose of a chain's tip.

Damped least squares: a damping that sets in near singular poses only [Nakamura & Hanafusa 1986], and one of half the squared error,
which vanishes on the path and calms what cannot be reached [Sugihara 2011]. Joint limits by an active set, joint speeds by
shortening the step along its own direction, and a posture in the null space.
"""

import numpy as np

from .robot import rotation_vector

# Below this singular value damping sets in: its square grows to DAMPING_MAX squared at a singular value of zero. Of unit columns
# of J, in which lengths count in metres and angles in radians.
SINGULAR = 0.05
DAMPING_MAX = 0.05
# A tick's iterations end at this error of the pose [m] or [rad]; one or two are usual.
TOLERANCE = 1e-7
ITERATIONS_MAX = 8
# How fast the joints go towards the posture in the null space [1/s].
POSTURE_RATE = 0.5


def damped_step(J, error):
    """The joint step of J step = error, of least length, damped where J is nearly singular."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    smallest = s[-1] if len(s) else 0.0
    damping2 = 0.5 * float(error @ error)
    if smallest < SINGULAR:
        damping2 += DAMPING_MAX**2 * (1.0 - (smallest / SINGULAR) ** 2)
    return Vt.T @ ((s / (s * s + damping2 + 1e-30)) * (U.T @ error))


class InverseKinematics:
    """Follows poses from tick to tick. `q` is what has been commanded."""

    def __init__(self, chain, q, posture=None):
        self.chain = chain
        self.q = np.clip(np.array(q, dtype=float), chain.lower, chain.upper)
        self.part = 1.0
        self.posture = self.q.copy() if posture is None else np.array(posture, dtype=float)

    def limited_step(self, J, error, q):
        """A step that stays within the limits: joints that would leave them stop there, and the others make up for it."""
        lower, upper = self.chain.lower - q, self.chain.upper - q
        free = np.ones(len(q), dtype=bool)
        step = np.zeros(len(q))
        for _ in range(len(q)):
            step[free] = damped_step(J[:, free], error - J[:, ~free] @ step[~free])
            beyond = free & ((step < lower) | (step > upper))
            if not beyond.any():
                break
            step[beyond] = np.clip(step, lower, upper)[beyond]
            free &= ~beyond
            if not free.any():
                break
        return np.clip(step, lower, upper)

    def toward_posture(self, dt):
        """The commanded positions, moved towards the posture without moving the tip (to first order)."""
        if len(self.q) <= 6:
            return self.q.copy()
        _, _, J = self.chain.forward(self.q)
        null = np.linalg.svd(J)[2][6:]
        step = null.T @ (null @ (self.posture - self.q)) * min(1.0, POSTURE_RATE * dt)
        return np.clip(self.q + step, self.chain.lower, self.chain.upper)

    def follow(self, R, p, dt):
        """Joint positions a time `dt` [s] later, with the tip at R, p or as near as limits let it; and their velocities."""
        q = self.toward_posture(dt)
        for _ in range(ITERATIONS_MAX):
            R_now, p_now, J = self.chain.forward(q)
            error = np.concatenate([rotation_vector(R @ R_now.T), p - p_now])
            if np.abs(error).max() < TOLERANCE:
                break
            q = q + self.limited_step(J, error, q)
        move = q - self.q
        # Which part of the way the joints' speeds allow.
        self.part = 1.0 / max(1.0, np.max(np.abs(move) / (self.chain.speed * dt), initial=0.0))
        move = move * self.part
        self.q = np.clip(self.q + move, self.chain.lower, self.chain.upper)
        return self.q.copy(), move / dt

    def error(self, R, p):
        """How far the commanded tip is from a pose: [rad], [m]."""
        R_now, p_now, _ = self.chain.forward(self.q)
        return float(np.linalg.norm(rotation_vector(R @ R_now.T))), float(np.linalg.norm(p - p_now))
