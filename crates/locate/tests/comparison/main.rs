//! Comparisons of profiles made by hand.

mod exact;
mod known;
mod output;
mod profiles;
