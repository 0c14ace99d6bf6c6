//! Where pages are kept when they are not in memory.

use std::io;

use crate::page::PageId;

/// A store of pages of one size, such as a file.
///
/// All functions may be called by any thread at any time. The pool never writes one page twice at the
/// same time, and never reads a page while it writes it. A function that panics is taken for one that failed.
/// None may ask the pool itself for a page: it may be the one for whose writing that waits.
///
/// The bytes are as far aligned as the page's size is, at most at a multiple of 4096, as direct input and output
/// need it.
///
/// A database with a write-ahead log sees to it here that the log comes first: before `write` stores a
/// page, it makes durable the log up to the page's last change, whose number the page contains.
pub trait Store: Send + Sync {
    /// Reads a page.
    ///
    /// # Errors
    /// If it could not be read as a whole. The pool then does not have the page, and whoever asked for it
    /// is given the error. The next who asks for it has it read again.
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()>;

    /// Writes a page. It need not be durable before [`sync`](Self::sync).
    ///
    /// # Errors
    /// If it was not written as a whole, or perhaps not; a part may be. The pool then keeps the page, dirty, and
    /// will write it again.
    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()>;

    /// Makes durable all pages whose `write` has returned `Ok`. If one of them was lost before, which a system that
    /// writes on its own may notice early, this call has to fail.
    ///
    /// # Errors
    /// If that failed for any of them. Nobody knows then which pages are durable, and a second call may
    /// succeed without having written them. So it is with `fsync` in Linux, which takes the pages for clean: who
    /// reads them, also by way of a new pool, finds what was written, until the system forgets it or the power
    /// fails. The pool therefore reports no page as durable any more; see
    /// [`BufferPool::sync`](crate::BufferPool::sync). A program can stop; or read the file from the disk, with
    /// direct input; or write every page again that it builds on, whatever it finds in it, and sync that with a
    /// new pool.
    fn sync(&self) -> io::Result<()>;
}

impl<S: Store + ?Sized> Store for &S {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        (**self).read(page, into)
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        (**self).write(page, from)
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
    }
}

impl<S: Store + ?Sized> Store for std::sync::Arc<S> {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        (**self).read(page, into)
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        (**self).write(page, from)
    }

    fn sync(&self) -> io::Result<()> {
        (**self).sync()
    }
}
