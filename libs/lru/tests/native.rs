//! Compares the lists with a plain model, on this host.

mod model;
