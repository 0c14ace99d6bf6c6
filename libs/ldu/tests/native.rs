//! Compares the logs and their adapters with plain models, on this host.

mod adapters;
mod model;
mod safe_code;
