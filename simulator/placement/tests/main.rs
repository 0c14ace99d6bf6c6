//! Strings of references whose cost is known.
mod by_hand;
mod properties;
