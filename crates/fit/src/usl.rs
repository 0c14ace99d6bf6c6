//! The universal scalability law, fitted to the same points for comparison.
