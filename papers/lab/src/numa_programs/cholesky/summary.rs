//! What a factor says of itself.

/// What a factor says of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Columns of the matrix.
    pub columns: usize,
    /// Panels of the factor.
    pub panels: usize,
    /// Values of the factor, with its diagonal.
    pub values: usize,
    /// The estimated norm of what the product of the factor with its transpose is off, as a part of
    /// the norm of the matrix.
    pub residual: f64,
    /// The most that an element of a solution is off, all of which are 1.
    pub solution_error: f64,
    /// The natural logarithm of the determinant.
    pub log_determinant: f64,
}
