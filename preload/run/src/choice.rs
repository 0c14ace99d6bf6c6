//! The choice of the locks that this process uses.
//!
//! The choice for mutexes is made when the first mutex is used, and likewise for read-write locks.
//! That may be in the constructor of another library, or in the allocator. So the name of the lock
//! is read from the environment without locks and without allocating memory.

use core::fmt::{self, Display, Write as _};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use kilocore_preload_common::is_thread_sanitized;

/// The choice for one kind of lock. `F` is a table of functions.
#[allow(missing_debug_implementations)]
pub(crate) struct Choice<F: 'static> {
    /// The environment variable that names the lock.
    variable: &'static str,
    /// What stays as it is if nothing is chosen.
    what: &'static str,
    /// Returns the functions of the lock of that name.
    find: fn(&str) -> Result<&'static F, &'static dyn Display>,
    /// The functions of glibc, for a process without a choice.
    glibc: &'static F,
    /// The functions until the choice is made.
    undecided: &'static F,
    /// The functions in use.
    functions: AtomicPtr<F>,
}

impl<F> Choice<F> {
    /// Returns a choice that is made later. The functions `undecided` make it and then call the
    /// chosen function.
    pub(crate) const fn new(
        variable: &'static str,
        what: &'static str,
        find: fn(&str) -> Result<&'static F, &'static dyn Display>,
        glibc: &'static F,
        undecided: &'static F,
    ) -> Self {
        let functions = AtomicPtr::new(ptr::from_ref(undecided).cast_mut());
        Self { variable, what, find, glibc, undecided, functions }
    }

    /// Returns the functions of this process. They may be the undecided ones.
    #[inline(always)]
    pub(crate) fn functions(&self) -> &'static F {
        // SAFETY: the pointer always points to a static. Relaxed: all these statics are there from
        // the start.
        unsafe { &*self.functions.load(Ordering::Relaxed) }
    }

    /// Returns whether glibc's functions are replaced in this process.
    #[inline]
    pub(crate) fn replaces(&self) -> bool {
        !ptr::eq(self.decided(), self.glibc)
    }

    /// Returns the functions of this process. Makes the choice if that has not been done yet.
    #[inline]
    pub(crate) fn decided(&self) -> &'static F {
        let now = self.functions();
        if ptr::eq(now, self.undecided) { self.decide() } else { now }
    }

    #[cold]
    fn decide(&self) -> &'static F {
        let wanted = value_of(self.variable).filter(|_| !is_thread_sanitized());
        let (chosen, complaint) = match wanted.map(self.find) {
            None => (self.glibc, None),
            Some(Ok(functions)) => (functions, None),
            Some(Err(unknown)) => (self.glibc, Some(unknown)),
        };
        let first = self.functions.compare_exchange(
            ptr::from_ref(self.undecided).cast_mut(),
            ptr::from_ref(chosen).cast_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if let (Ok(_), Some(unknown)) = (first, complaint) {
            self.complain(wanted.unwrap_or_default(), unknown);
        }
        self.functions()
    }

    /// Prints one line on standard error.
    fn complain(&self, name: &str, unknown: &dyn Display) {
        let Self { variable, what, .. } = self;
        let mut line = Line::default();
        // This cannot fail. Text that does not fit is cut off.
        let _ = write!(line, "kilocore: {variable}={name}: {unknown}; {what} stay as they are");
        line.print();
    }
}

/// Returns the value of an environment variable if it is set and not empty.
fn value_of(variable: &str) -> Option<&'static str> {
    // SAFETY: no thread sets variables yet, because this is the first time that a lock is used.
    let value = unsafe { kilocore_preload_common::environment::value_of(variable) }?;
    Some(core::str::from_utf8(value).unwrap_or("?"))
}

/// A line of text on the stack.
struct Line {
    text: [u8; 1023],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { text: [0; 1023], length: 0 }
    }
}

impl Line {
    fn print(&mut self) {
        // The array is never completely full, see `write_str`.
        if let Some(end) = self.text.get_mut(self.length) {
            *end = b'\n';
        }
        kilocore_preload_common::errno::preserved(|| {
            // SAFETY: the array is live and has at least `length` + 1 bytes. There is nobody to
            // whom a failure could be reported.
            unsafe { libc::write(libc::STDERR_FILENO, self.text.as_ptr().cast(), self.length + 1) };
        });
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let room = self.text.len() - 1 - self.length;
        let piece = piece.as_bytes();
        let taken = piece.len().min(room);
        for (to, from) in self.text.iter_mut().skip(self.length).zip(piece.iter().take(taken)) {
            *to = *from;
        }
        self.length += taken;
        Ok(())
    }
}
