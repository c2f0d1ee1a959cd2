//! Convex contact problems and what solves them. Knows no body, no geometry and no robot.
