//! A coin that slides and spins on a plane [Masterjohn 2022, section V-A; Farkas et al. 2003].

mod coin;
mod motion;
mod study;

pub(in crate::experiments) use coin::Coin;
pub use coin::{Cap, CoinPath, CoinSample, RADIUS, slide};
pub use motion::{Footprint, exact_ratio, friction_of};
pub use study::{CoinScheme, CoinStudy, ORDER_STEPS, OrderRow, SweepRow, grid_order, ratios, study, time_order};
