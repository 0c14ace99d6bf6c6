//! A folder of a user's in which programs keep what they could compute anew.
//!
//! Whoever reads such a file believes it. So each folder on the way is opened without following a link, and
//! belongs to root or to this user: one that runs as root with somebody else's `HOME` finds no folder. The
//! folder itself and its files belong to this user, and nobody else can write to them. All of that is looked at by
//! open descriptors, so that whoever renames something meanwhile changes nothing of what was looked at.
//!
//! A file appears whole or not at all. Several processes may write at the same time; then the last one wins.
//! After each write the files that were used longest ago are removed, until those that are left fit.

mod folder;
mod path;

pub use folder::{KeptFiles, KeptName, own_folder, own_folder_in};
