//! The curve of a lock.

use std::ops::{Deref, DerefMut};

use serde::Serialize;

use crate::{Curve, CurvePoint, Judged};

/// Throughput against cores under one lock. It can be used as its curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LockCurve<P> {
    /// The name of the lock: its own, or an alias by which its user knows it.
    pub lock: &'static str,
    /// Throughput against cores under this lock.
    #[serde(flatten)]
    pub curve: Curve<P>,
}

impl<P: CurvePoint> LockCurve<P> {
    /// The curve through the given points, which are sorted by cores.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn new(lock: &'static str, points: Vec<P>, judged: Judged<'_>) -> Self {
        Self { lock, curve: Curve::new(points, judged) }
    }
}

impl<P> Deref for LockCurve<P> {
    type Target = Curve<P>;

    fn deref(&self) -> &Curve<P> {
        &self.curve
    }
}

impl<P> DerefMut for LockCurve<P> {
    fn deref_mut(&mut self) -> &mut Curve<P> {
        &mut self.curve
    }
}
