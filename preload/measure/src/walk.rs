//! Walks the stack to find the return addresses of the callers of this library.
//!
//! The C++ unwinder does the walk. It needs no frame pointers and, from glibc 2.35 on, no locks. A
//! walk takes a few microseconds. But a program may create thousands of locks in one loop, through
//! the same chain of calls. So a thread keeps the [`Chain`] of its last walk: each return address,
//! and where on the stack it lies. If the stack pointer is the same again and all these words are
//! unchanged, then the chain is unchanged too. The reason is that a return address at the end of a
//! frame determines the frame above, and where that frame ends. (The exception are functions with
//! frames of variable size. Their callers may have moved, while an old word is still there. A lock
//! is then attributed to the place where the previous lock was created.)
//!
//! Compilers unroll such loops, and one structure may contain several locks. In these cases, only
//! the innermost address outside of this library differs. So a chain has room for several such
//! addresses.

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use kilocore_lock_recording::MAX_FRAMES;

/// The number of frames of this library, between the wrapper and the walk, for which a chain has
/// room.
const MAX_OWN: usize = 12;

/// The number of frames for which a chain has room.
const MAX_LINKS: usize = MAX_OWN + MAX_FRAMES;

/// The number of innermost callers for which a chain has room.
const MAX_CALLERS: usize = 16;

/// Return addresses outside of this library, innermost first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames {
    addresses: [u64; MAX_FRAMES],
    length: usize,
}

impl Frames {
    const EMPTY: Self = Self { addresses: [0; MAX_FRAMES], length: 0 };

    /// Returns the innermost addresses, at most `most` of them.
    pub(crate) fn innermost(&self, most: usize) -> &[u64] {
        &self.addresses[..self.length.min(most)]
    }

    /// Returns the return addresses that were found, the innermost first.
    pub(crate) fn all(&self) -> &[u64] {
        self.innermost(MAX_FRAMES)
    }

    fn push(&mut self, address: u64) {
        self.addresses[self.length] = address;
        self.length += 1;
    }
}

/// A return address and its place on the stack.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    address: u64,
    /// The distance of its place from the stack pointer of the function that walked, in bytes.
    offset: usize,
}

/// A chain of calls. While all fields are zero, it cannot be used.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Chain {
    /// The stack pointer of the function that walked. It is 0 while the chain cannot be used.
    stack: Cell<usize>,
    length: Cell<usize>,
    /// The number of links at the beginning that belong to this library. The address of the link
    /// after them may be any of `callers`.
    own: Cell<usize>,
    links: [Cell<Link>; MAX_LINKS],
    callers: [Cell<u64>; MAX_CALLERS],
    /// The index of the element of `callers` that is replaced next.
    next: Cell<usize>,
}

impl Chain {
    /// Returns the callers of this library if they are known from the last [`walk`] with this
    /// chain. `stack` is the stack pointer of the calling function.
    #[inline(always)]
    pub(crate) fn unchanged(&self, stack: usize) -> Option<Frames> {
        if stack != self.stack.get() {
            return None;
        }
        let mut frames = Frames::EMPTY;
        for (index, link) in self.links[..self.length.get()].iter().enumerate() {
            let Link { address, offset } = link.get();
            // SAFETY: the links below this one are unchanged. So the frame that ends here is alive,
            // and this is the word that the call of its function has pushed.
            let found = unsafe { ((stack + offset) as *const u64).read_volatile() };
            let known = found == address
                || (index == self.own.get() && self.callers.iter().any(|one| one.get() == found));
            if !known {
                return None;
            }
            if index >= self.own.get() {
                frames.push(found);
            }
        }
        Some(frames)
    }

    /// Takes over the links that a walk has found.
    fn learn(&self, links: &Links) {
        let found = &links.links[..links.length];
        if links.broken || links.own >= found.len() {
            self.stack.set(0);
            return;
        }
        let caller = found[links.own];
        let same = self.stack.get() == links.stack
            && (self.length.get(), self.own.get()) == (links.length, links.own)
            && self.links.iter().zip(found).enumerate().all(|(index, (old, new))| {
                let old = old.get();
                old.offset == new.offset && (old.address == new.address || index == links.own)
            });
        if !same {
            self.stack.set(links.stack);
            self.length.set(links.length);
            self.own.set(links.own);
            for (to, from) in self.links.iter().zip(found) {
                to.set(*from);
            }
            self.callers.iter().for_each(|one| one.set(0));
            self.next.set(0);
        }
        let next = self.next.get() % MAX_CALLERS;
        self.callers[next].set(caller.address);
        self.next.set(next + 1);
    }
}

/// The links that a walk has found so far.
struct Links {
    stack: usize,
    links: [Link; MAX_LINKS],
    length: usize,
    own: usize,
    /// Whether a link is not where it should be, or there are too many links.
    broken: bool,
}

impl Links {
    fn new(stack: usize) -> Self {
        let links = [Link { address: 0, offset: 0 }; MAX_LINKS];
        Self { stack, links, length: 0, own: 0, broken: stack == 0 }
    }

    /// Adds a link: `address`, which lies just below `end`, where a frame ends.
    fn push(&mut self, address: u64, end: usize, own: bool) {
        let place = end.wrapping_sub(size_of::<u64>());
        if self.broken || place < self.stack {
            // The links cannot be used, or this is a frame of the walk itself.
            return;
        }
        // SAFETY: according to the unwinder, the frame of a live call ends here.
        let pushed = unsafe { (place as *const u64).read_volatile() };
        if pushed != address || self.length == MAX_LINKS {
            self.broken = true;
            return;
        }
        self.links[self.length] = Link { address, offset: place - self.stack };
        self.length += 1;
        if own {
            self.own = self.length;
        }
    }
}

/// Returns the stack pointer of the function into which this is inlined. It is the same whenever
/// that function is called with the same stack. Returns 0 on machines where return addresses have
/// no fixed place.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let stack;
        // SAFETY: this only copies a register.
        unsafe {
            core::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags));
        }
        stack
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

unsafe extern "C" {
    /// A function of the C++ runtime. It calls `visit` for each frame of the calling thread,
    /// innermost first.
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    /// Returns the return address in the frame that is being visited.
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    /// Returns the end of the frame that was called from the one that is being visited.
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// `_URC_NO_REASON`: the walk should go on.
const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`: the walk should end.
const ENOUGH: c_int = 4;

/// The state of a walk.
struct Walk {
    frames: Frames,
    wanted: usize,
    own: (u64, u64),
    links: Option<Links>,
}

extern "C" fn visit(context: *mut c_void, argument: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes its own context, and the argument that it got in `walk`.
    let (address, end, walk) =
        unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context), &mut *argument.cast::<Walk>()) };
    let address = address as u64;
    if address == 0 {
        return ENOUGH;
    }
    let own = walk.frames.length == 0 && address >= walk.own.0 && address < walk.own.1;
    if let Some(links) = &mut walk.links {
        links.push(address, end, own);
    }
    if own {
        return GO_ON;
    }
    walk.frames.push(address);
    if walk.frames.length == walk.wanted { ENOUGH } else { GO_ON }
}

/// Walks the stack and returns the callers of this library, at most `wanted` of them. This
/// library's code lies in `own`, and `wanted` is at most [`MAX_FRAMES`]. If a `chain` is given, it
/// learns the links, as seen from the given stack pointer of the calling function.
pub(crate) fn walk(own: (u64, u64), wanted: usize, chain: Option<(&Chain, usize)>) -> Frames {
    let links = chain.map(|(_, stack)| Links::new(stack));
    let mut walk = Walk { frames: Frames::EMPTY, wanted, own, links };
    // SAFETY: `visit` has the type that the unwinder expects. It writes only `walk`, which outlives
    // the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    if let (Some((chain, _)), Some(links)) = (chain, &walk.links) {
        chain.learn(links);
    }
    walk.frames
}
