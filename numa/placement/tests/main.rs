//! Strings of references whose cost is known.
mod balanced;
mod by_hand;
mod properties;
mod streamed;
