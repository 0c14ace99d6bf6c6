//! Files of traces: what is written is read, and whatever else is read ends with an error that
//! names the place.

mod damage;
mod made;
mod recorder;
mod replay;
mod round_trips;
