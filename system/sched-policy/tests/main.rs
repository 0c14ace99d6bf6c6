//! Tests of the policies, as pure functions.
