//! Comparisons of profiles made by hand.

mod chance;
mod exact;
mod known;
mod output;
mod profiles;
