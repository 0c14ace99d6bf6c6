//! Compares the lists with plain models, on this host.

mod folios;
mod model;
mod oldest_tail;
mod rivals;
