//! The lock of a core's list: cheap for threads that run on the core.
//!
//! A core's list is nearly always acquired by a thread that runs on the core. An atomic exchange that
//! excludes threads on other cores takes most of the time of an allocation, so the platform may have a
//! cheaper way at home. Whoever comes from afar then pays for both.

use kilocore_platform::{Atomic, CpuId, Ordering, Platform};

use crate::try_lock::{FREE, Held, exchange};

/// A lock that nobody waits for, as a [`TryLock`](crate::try_lock::TryLock) is.
pub(crate) struct CoreLock<P: Platform> {
    word: P::U32,
    /// The core on which it is cheap, or [`NOWHERE`].
    home: CpuId,
}

/// The home of a lock that is acquired by exchanges wherever a thread runs.
const NOWHERE: CpuId = CpuId(u32::MAX);

impl<P: Platform> CoreLock<P> {
    /// Returns locks for the first so many cores.
    pub(crate) fn of_cores(cores: u32) -> impl Iterator<Item = Self> {
        let cheap = P::has_cheap_homes(cores);
        (0..cores).map(move |core| Self {
            word: P::U32::new(FREE),
            home: if cheap { CpuId(core) } else { NOWHERE },
        })
    }

    /// Acquires the lock, unless somebody has it. This suits threads that run on its core.
    #[inline(always)]
    pub(crate) fn attempt_at_home(&self) -> Option<Held<'_, P>> {
        if self.home == NOWHERE {
            return exchange(&self.word);
        }
        // SAFETY: the platform has cheap homes, or this one were nowhere. The word is changed here,
        // below and by `Held` only, and the home never changes.
        let acquired = unsafe { P::acquire_at_home(&self.word, self.home) };
        acquired.then(|| Held(&self.word))
    }

    /// Acquires the lock, unless somebody has it. This suits threads that run elsewhere.
    #[inline]
    pub(crate) fn attempt_from_afar(&self) -> Option<Held<'_, P>> {
        if self.home == NOWHERE {
            return exchange(&self.word);
        }
        // SAFETY: as above.
        let acquired = unsafe { P::acquire_from_afar(&self.word, self.home) };
        acquired.then(|| Held(&self.word))
    }

    /// Returns whether threads that run elsewhere acquire it as cheaply as those at home.
    pub(crate) fn is_cheap_from_afar(&self) -> bool {
        self.home == NOWHERE
    }

    /// Returns whether nobody has the lock now. What the last holder did then happened before.
    pub(crate) fn is_free(&self) -> bool {
        // Argued: acquire pairs with the release in `Held`. Without it, what the caller looks at next could be
        // older than what the last holder left. It would overlook frames that were put onto the list just
        // now. No check can tell: it may find no frame as well while somebody still puts them there.
        self.word.load(Ordering::Acquire) == FREE
    }
}
