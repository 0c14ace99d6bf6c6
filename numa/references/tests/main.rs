//! The tests of this crate, as one program.

mod damage;
mod made;
mod rings;
mod round_trips;
