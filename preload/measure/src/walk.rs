//! Walking the stack: the return addresses of the callers of this library.
//!
//! The C++ unwinder does it, which works without frame pointers and, from glibc 2.35 on, without
//! locks. It takes a few microseconds, and programs create locks by the thousand in one loop,
//! through the same chain of calls. A thread therefore keeps the [`Chain`] that it walked last:
//! each return address and where on the stack it lies. If the stack pointer is the same again
//! and all these words are unchanged, so is the chain, because a return address at the place
//! where a frame ends tells the frame above and where that ends. (The exception are functions
//! with frames of variable size, whose callers may have moved while an old word stayed behind. A
//! lock is then attributed to the place where the previous one was created.)
//!
//! Compilers unroll such loops, and structures hold several locks. Only the innermost address
//! outside of this library differs then, so a chain has room for several of it.

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use kilocore_lock_recording::MAX_FRAMES;

/// Frames of this library, between a wrapper and the one who walks, that a chain has room for.
const MAX_OWN: usize = 12;

/// Frames that a chain has room for.
const MAX_LINKS: usize = MAX_OWN + MAX_FRAMES;

/// Innermost callers that a chain has room for.
const MAX_CALLERS: usize = 16;

/// Return addresses outside of this library, innermost first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames {
    addresses: [u64; MAX_FRAMES],
    length: usize,
}

impl Frames {
    const EMPTY: Self = Self { addresses: [0; MAX_FRAMES], length: 0 };

    /// At most `most` of them.
    pub(crate) fn innermost(&self, most: usize) -> &[u64] {
        &self.addresses[..self.length.min(most)]
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[u64] {
        self.innermost(MAX_FRAMES)
    }

    fn push(&mut self, address: u64) {
        self.addresses[self.length] = address;
        self.length += 1;
    }
}

/// A return address and where it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    address: u64,
    /// Bytes above the stack pointer of the one who walked.
    offset: usize,
}

/// A chain of calls. All zero, it is of no use yet.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Chain {
    /// The stack pointer of the one who walked; 0 while the chain is of no use.
    stack: Cell<usize>,
    length: Cell<usize>,
    /// How many of the first links are of this library. The address of the one that follows is
    /// any of `callers`.
    own: Cell<usize>,
    links: [Cell<Link>; MAX_LINKS],
    callers: [Cell<u64>; MAX_CALLERS],
    /// Which of these is replaced next.
    next: Cell<usize>,
}

impl Chain {
    /// The callers of this library, if they are known from the last [`walk`] into this chain.
    /// `stack` is the stack pointer of the caller.
    #[inline(always)]
    pub(crate) fn unchanged(&self, stack: usize) -> Option<Frames> {
        if stack != self.stack.get() {
            return None;
        }
        let mut frames = Frames::EMPTY;
        for (index, link) in self.links[..self.length.get()].iter().enumerate() {
            let Link { address, offset } = link.get();
            // SAFETY: the links below this one are unchanged, so the frame that ends here is
            // alive, and this is the word that the call of its function pushed.
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

    /// Takes over what a walk found.
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

/// The links that a walk has come upon so far.
struct Links {
    stack: usize,
    links: [Link; MAX_LINKS],
    length: usize,
    own: usize,
    /// Whether one of them is not where it should be, or there are too many.
    broken: bool,
}

impl Links {
    fn new(stack: usize) -> Self {
        let links = [Link { address: 0, offset: 0 }; MAX_LINKS];
        Self { stack, links, length: 0, own: 0, broken: stack == 0 }
    }

    /// Notes that `address` lies where a frame ends.
    fn push(&mut self, address: u64, end: usize, own: bool) {
        let place = end.wrapping_sub(size_of::<u64>());
        if self.broken || place < self.stack {
            // Of no use, or a frame of the walk itself.
            return;
        }
        // SAFETY: the unwinder says that the frame of a living call ends here.
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

/// The stack pointer of the function this is inlined into, the same whenever that function is
/// called with the same stack; 0 where return addresses lie at no fixed place.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let stack;
        // SAFETY: copies a register.
        unsafe {
            core::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags));
        }
        stack
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

unsafe extern "C" {
    /// Of the C++ runtime: calls `visit` for each frame of the calling thread, innermost first.
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    /// The return address of the frame being visited.
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    /// Where the frame ends that was called from the one being visited.
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// `_URC_NO_REASON`: go on.
const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`: enough.
const ENOUGH: c_int = 4;

/// A walk under way.
struct Walk {
    frames: Frames,
    wanted: usize,
    own: (u64, u64),
    links: Option<Links>,
}

extern "C" fn visit(context: *mut c_void, argument: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes its own context, and the argument given to it in `walk`.
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

/// The callers of this library, whose code lies in `own`, at most `wanted` of them, which is at
/// most [`MAX_FRAMES`]. A `chain`, if given, learns the way as seen from a stack pointer, which
/// is that of the caller.
pub(crate) fn walk(own: (u64, u64), wanted: usize, chain: Option<(&Chain, usize)>) -> Frames {
    let links = chain.map(|(_, stack)| Links::new(stack));
    let mut walk = Walk { frames: Frames::EMPTY, wanted, own, links };
    // SAFETY: `visit` has the type the unwinder expects and writes to `walk` only, which
    // outlives the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) };
    if let (Some((chain, _)), Some(links)) = (chain, &walk.links) {
        chain.learn(links);
    }
    walk.frames
}
