//! Comparisons of profiles made by hand.

mod chance;
mod exact;
mod known;
mod off_processors;
mod output;
mod profiles;
