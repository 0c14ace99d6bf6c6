//! Places and directions.

pub(super) type Vector = [f64; 3];

/// The square of the length.
pub(super) fn squared(vector: Vector) -> f64 {
    vector.iter().map(|x| x * x).sum()
}

pub(super) fn minus(one: Vector, other: Vector) -> Vector {
    core::array::from_fn(|axis| one[axis] - other[axis])
}
