//! The interface of all page lists, whatever keeps them in order.

use core::error::Error;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

use kilocore_platform::Platform;

use crate::folio::FolioOrder;
use crate::frame::{Class, FrameId, List, PageHash};

/// What is to become of a page that reclaim has found at the end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its frame leaves the lists. When [`PageLists::reclaim`] has returned, the frame is the caller's.
    Reclaim,
    /// It stays, among the pages that were used again lately.
    Activate,
    /// It stays, among the others, as the newest of them.
    Keep,
}

/// The frame is a member of the lists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlreadyAdded(pub FrameId);

impl fmt::Display for AlreadyAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {} is a member of the lists already", self.0.0)
    }
}

impl Error for AlreadyAdded {}

/// Lists of pages, by which a cache knows which of them to do without.
///
/// All functions may be called by any thread at any time. Work on lists may wait in a batch of the
/// core that asked for it; [`drain`](Self::drain) does what waits.
///
/// # Panics
/// All functions panic if there is no frame of the number given.
///
/// # Safety
/// Unsafe code may rely on it that a frame is isolated for one caller at a time. So `isolate_frame`
/// returns `true` for a frame only if that is a member, is on a list, and is isolated for nobody.
pub unsafe trait PageLists<P: Platform>: Send + Sync {
    /// Returns how many frames there are.
    fn frames(&self) -> u32;

    /// Adds a frame with a page that has just come to memory. It will be the newest of its class's
    /// inactive list.
    ///
    /// # Errors
    /// If it is a member.
    fn add(&self, frame: FrameId, class: Class) -> Result<(), AlreadyAdded> {
        self.add_folio(frame, FolioOrder::PAGE, class, None)
    }

    /// Adds a frame, and says which page it is. Lists that remember reclaimed pages find out by this that
    /// a page has come back. Other lists take it for a plain [`add`](Self::add). To lists that remember, a
    /// page that was added by `add` is one that they have never met.
    ///
    /// # Errors
    /// If it is a member.
    fn add_page(&self, frame: FrameId, class: Class, page: PageHash) -> Result<(), AlreadyAdded> {
        self.add_folio(frame, FolioOrder::PAGE, class, Some(page))
    }

    /// Adds the frames of a folio, which go through the lists together from then on. All other functions
    /// know the folio by its head, its first frame. `page` names the folio, if it has a name.
    ///
    /// The lists do not look at its other frames: that nobody adds them meanwhile is up to the caller.
    ///
    /// # Errors
    /// If the head is a member.
    ///
    /// # Panics
    /// If the head is no multiple of the folio's size, or the last of its frames is not there.
    fn add_folio(
        &self,
        head: FrameId,
        order: FolioOrder,
        class: Class,
        page: Option<PageHash>,
    ) -> Result<(), AlreadyAdded>;

    /// Says that the page was used. The first use after it was added is the one for which it came to
    /// memory, so the second use is the first that counts for it. If the frame is no member, nothing
    /// happens.
    fn touch(&self, frame: FrameId);

    /// Says that the page will hardly be used again soon: it goes to the inactive list.
    fn deactivate(&self, frame: FrameId);

    /// Says that the page can be reclaimed at once, for example because it was just written back: it goes
    /// to the end of the inactive list from which reclaim takes.
    fn rotate(&self, frame: FrameId);

    /// Says whether the page can be reclaimed at all. Reclaim does not look at pages that cannot.
    fn set_evictable(&self, frame: FrameId, evictable: bool);

    /// Takes a frame off its list, for this caller alone. Returns `None` if it is on no list: it is no
    /// member, waits in a batch, or somebody else has taken it off.
    fn isolate(&self, frame: FrameId) -> Option<Isolated<'_, P, Self>> {
        self.isolate_frame(frame).then(|| Isolated { lists: self, frame, platform: PhantomData })
    }

    /// Looks at the oldest inactive pages of a class, until `target` frames are reclaimed or all were
    /// looked at. Returns how many were reclaimed. `judge` decides about each folio, by its head; no lock
    /// is held meanwhile. The last folio may have more frames than were missing.
    fn reclaim(&self, class: Class, target: u32, judge: &mut dyn FnMut(FrameId) -> Fate) -> u32;

    /// Does all work that waits in batches.
    fn drain(&self);

    /// Returns how many frames are on a list, with all those of its folios. While others change it, that
    /// is an estimate.
    fn len(&self, list: List) -> u32;

    #[doc(hidden)]
    fn isolate_frame(&self, frame: FrameId) -> bool;

    /// # Safety
    /// The frame is isolated for the caller, and is not any more after the call.
    #[doc(hidden)]
    unsafe fn put_back_frame(&self, frame: FrameId);

    /// # Safety
    /// As for `put_back_frame`.
    #[doc(hidden)]
    unsafe fn remove_frame(&self, frame: FrameId);
}

/// A frame that was taken off its list, for one caller alone. It goes back when this is dropped.
#[must_use = "it goes back to its list at once"]
pub struct Isolated<'a, P: Platform, T: PageLists<P> + ?Sized> {
    lists: &'a T,
    frame: FrameId,
    platform: PhantomData<fn(P)>,
}

impl<P: Platform, T: PageLists<P> + ?Sized> Isolated<'_, P, T> {
    /// Returns the frame that is isolated: a folio's head.
    #[must_use]
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// Removes the frame from the lists: it is no member any more, and can be added again.
    pub fn remove(self) {
        // SAFETY: it is isolated for this value, which is given up.
        unsafe { self.lists.remove_frame(self.frame) };
        mem::forget(self);
    }
}

impl<P: Platform, T: PageLists<P> + ?Sized> Drop for Isolated<'_, P, T> {
    fn drop(&mut self) {
        // SAFETY: it is isolated for this value, which ends.
        unsafe { self.lists.put_back_frame(self.frame) };
    }
}

impl<P: Platform, T: PageLists<P> + ?Sized> fmt::Debug for Isolated<'_, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Isolated").field("frame", &self.frame).finish_non_exhaustive()
    }
}
