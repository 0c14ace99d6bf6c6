//! Throughput against cores.
//!
//! A [`Curve`] goes through points of cores and throughput, whether those were measured or
//! simulated. It has a peak, perhaps a number of cores from which it falls, and a [`Shape`]: it
//! scales, flattens or collapses.
//!
//! Laws of scalability describe a curve with few figures: [`gustafson`] and [`usl`]. [`misfit`]
//! says how far a law is from the points. [`Contenders`] choose among the curves of several locks.
//! [`Provenance`] says where a figure comes from, and [`Unit`] what it is counted in.
//! [`median`] is what repeated measurements of one point come to, and [`percentile`] what most of
//! them do not exceed.

mod collapse;
mod contenders;
mod core_counts;
mod curve;
pub mod decimal;
pub mod gustafson;
mod lock_curve;
mod median;
mod misfit;
mod point;
mod provenance;
mod shape;
mod spread;
mod time;
mod unit;
pub mod usl;

pub use collapse::lasting_collapse;
pub use contenders::Contenders;
pub use core_counts::core_counts;
pub use curve::Curve;
pub use lock_curve::LockCurve;
pub use median::{ascending, lower_median, median, percentile};
pub use misfit::misfit;
pub use point::CurvePoint;
pub use provenance::Provenance;
pub use shape::{Judged, Shape};
pub use spread::Spread;
pub use time::Nanoseconds;
pub use unit::Unit;
