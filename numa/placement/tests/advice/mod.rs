//! Streams whose advice is known.
mod blocks;
mod by_hand;
mod mappings;
mod properties;
mod stream;
