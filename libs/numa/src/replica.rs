//! A copy of the data, in memory that it shares with nothing else.

use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::ptr::NonNull;

use kilocore_platform::{NodeId, Padded};

use crate::node_memory::NodeMemory;

/// A value on a node. Readers and writers take turns, and each dereferences the cell by itself.
pub(crate) struct Replica<T> {
    value: NonNull<UnsafeCell<T>>,
    layout: Layout,
    pub(crate) node: NodeId,
    memory: Option<&'static dyn NodeMemory>,
    /// Whether the system has bound the memory to the node.
    pub(crate) bound: bool,
}

impl<T> Replica<T> {
    /// Puts what `make` returns on a node, with what it allocates.
    pub(crate) fn new(
        node: NodeId,
        memory: Option<&'static dyn NodeMemory>,
        make: impl FnOnce() -> T,
    ) -> Self {
        let made = on(memory, node, make);
        // No other object shares a page with it, or else a cache line.
        let unit = memory.map_or(align_of::<Padded<u8>>(), NodeMemory::page_bytes);
        let layout = Layout::new::<T>().align_to(unit).expect("an alignment is a power of two");
        let bytes = layout.pad_to_align().size().max(unit);
        let layout =
            Layout::from_size_align(bytes, layout.align()).expect("memory has such objects");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        let Some(value) = NonNull::new(start.cast::<UnsafeCell<T>>()) else {
            handle_alloc_error(layout)
        };
        let bound = memory.is_some_and(|memory| memory.bind(start, bytes, node));
        on(memory, node, || {
            // SAFETY: it was allocated above with the layout of a `T`, or a larger one.
            unsafe { value.write(UnsafeCell::new(made)) };
        });
        Self { value, layout, node, memory, bound }
    }

    #[inline]
    pub(crate) fn pointer(&self) -> NonNull<UnsafeCell<T>> {
        self.value
    }

    /// Whether the system was asked to bind it.
    pub(crate) fn was_to_be_bound(&self) -> bool {
        self.memory.is_some()
    }

    /// Runs `work` so that what it allocates is on the copy's node.
    pub(crate) fn on_its_node<R>(&self, work: impl FnOnce() -> R) -> R {
        on(self.memory, self.node, work)
    }
}

/// Runs `work` so that fresh memory which it uses first is on a node, if there is a way.
pub(crate) fn on<R>(
    memory: Option<&'static dyn NodeMemory>,
    node: NodeId,
    work: impl FnOnce() -> R,
) -> R {
    let Some(memory) = memory else { return work() };
    let (mut work, mut result) = (Some(work), None);
    memory.on(node, &mut || result = work.take().map(|work| work()));
    result.expect("it was called")
}

impl<T> Drop for Replica<T> {
    fn drop(&mut self) {
        /// Gives the memory back, also if dropping the value panics.
        struct Memory<'a, T>(&'a Replica<T>);
        impl<T> Drop for Memory<'_, T> {
            fn drop(&mut self) {
                let Replica { value, layout, memory, bound, .. } = *self.0;
                let start = value.as_ptr().cast::<u8>();
                if let Some(memory) = memory.filter(|_| bound) {
                    memory.unbind(start, layout.size());
                }
                // SAFETY: allocated with this layout, and nobody uses it any more.
                unsafe { dealloc(start, layout) };
            }
        }
        let memory = Memory(self);
        // SAFETY: it is there, and nobody refers to it: readers borrow what owns this.
        unsafe { memory.0.value.drop_in_place() };
    }
}
