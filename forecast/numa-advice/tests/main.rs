//! Streams whose advice is known.
mod by_hand;
mod mappings;
mod properties;
mod stream;
