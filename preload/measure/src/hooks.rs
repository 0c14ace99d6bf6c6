//! The functions that the library displaces.

mod barrier;
mod c11;
mod condition;
mod confinement;
mod exit;
mod limits;
mod mutex;
mod programs;
mod read_write;
mod spin;
mod threads;

pub(crate) use mutex::{pthread_mutex_lock as lock_mutex, pthread_mutex_unlock as unlock_mutex};
