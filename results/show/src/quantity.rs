//! What charts draw against cores, and how it is written.

use crate::drawn::Drawn;
use crate::scale::Growth;

/// The lower and the upper end of the band around a point.
pub type Band<P> = fn(&P) -> (f64, f64);

/// A quantity that is drawn against cores.
#[derive(Debug)]
pub struct Quantity<P> {
    /// What the axis is labelled.
    pub name: &'static str,
    /// The figure of a point.
    pub of: fn(&P) -> f64,
    /// How it is written.
    pub written: fn(f64) -> String,
    /// The lower and the upper end of the band around a point. Throughput alone has one, and a line of
    /// linear scaling.
    pub band: Option<Band<P>>,
    /// The highest end that the axis may have.
    pub limit: f64,
    /// How its axis grows where that of cores is linear.
    pub growth: Growth,
    /// What hovering over a point tells.
    pub hover: fn(&Drawn<'_, P>, &P) -> String,
}
