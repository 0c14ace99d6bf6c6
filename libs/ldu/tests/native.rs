//! The logs and their adapters on this host, beside plain models.

mod adapters;
mod model;
mod safe_code;
