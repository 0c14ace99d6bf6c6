//! Strings of references whose cost is known.
mod advice;
mod balanced;
mod by_hand;
mod properties;
mod streamed;
