//! The Malthusian lock whose waiters spin, active and passive ones alike.
//!
//! The algorithm is that of [`Malthusian`](crate::Malthusian); only the wait differs. Passive
//! waiters leave the caches and the lock's cache line to the threads that circulate, but keep their
//! cores.

use crate::signal::Spinning;
use crate::{LockInfo, Waiting};

/// A Malthusian lock whose waiters spin.
pub type MalthusianSpin<P> = crate::malthusian::Malthusian<P, Spinning>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "malthusian-spin",
    title: "Malthusian lock: surplus waiters spin aside",
    source: "Dice, EuroSys 2017",
    best_at: "more contenders than caches hold, no more threads than cores",
    worst_at: "more threads than cores; fairness over short times",
    waiting: Waiting::SpinInQueue,
    aliases: &["malth_spin"],
};
