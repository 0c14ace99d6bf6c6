//! Which functions only pass memory on, so that nobody wants to read their names.

use crate::advice::frame::{Frame, file_name};

/// The library that tells of blocks.
const TELLER: &str = "libkilocore_allocations.so";

/// Libraries that no function is named of. What they are asked for is the matter of whoever asks.
const LIBRARIES: [&str; 12] = [
    TELLER,
    "ld-linux",
    "libc.so",
    "libc-2",
    "libc.musl",
    "ld-musl",
    "libpthread",
    "libstdc++",
    "libc++",
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
];

/// What the names of functions begin with that belong to the languages' libraries, and may be in the program
/// itself.
const SPACES: [&str; 12] = [
    "std::",
    "__gnu_cxx::",
    "operator new",
    "alloc::",
    "core::",
    "<alloc::",
    "<core::",
    "<std::",
    "hashbrown::",
    "__rust",
    "__rdl_",
    "runtime.",
];

/// The C library's functions, which are in the program if that is linked statically. A `*` stands for the
/// rest of a name.
const FUNCTIONS: [&str; 29] = [
    "malloc*",
    "calloc",
    "realloc*",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "libc_malloc*",
    "libc_calloc*",
    "libc_realloc*",
    "libc_memalign*",
    "int_malloc",
    "int_realloc",
    "int_memalign",
    "mid_memalign*",
    "sysmalloc*",
    "tcache_init*",
    "new_heap",
    "alloc_new_heap",
    "arena_get2*",
    "mmap*",
    "mremap*",
    "libc_start_main*",
    "libc_start_call_main",
    "pthread_create*",
    "start_thread",
    "start",
    "clone",
    "clone3",
];

/// Where the sources of languages' libraries lie. Debugging information names their functions without their
/// spaces.
const SOURCES: [&str; 4] = ["/include/c++/", "/library/std/", "/library/alloc/", "/library/core/"];

/// Where Go's heap grows, whoever asked for the last bit of it.
const GO_HEAP: &str = "runtime.(*mheap).grow";
/// Where it grows for one object.
const GO_LARGE: &str = "runtime.(*mcache).allocLarge";

/// Those that make the heap of a thread, which is not one block.
const HEAP_MAKERS: [&str; 3] = ["new_heap", "alloc_new_heap", "arena_get2"];

/// Whether a function is one of the allocator's, or of another library that is not worth a name.
pub(crate) fn only_passes_on(frame: &Frame) -> bool {
    let line = frame.line.as_deref().unwrap_or_default();
    is_allocator(frame)
        || SPACES.iter().any(|space| words_begin_with(&frame.function, space))
        || SOURCES.iter().any(|source| line.contains(source))
}

/// Whether a function is one of a library's that has an allocator, or that makes threads.
pub(crate) fn is_allocator(frame: &Frame) -> bool {
    let module = file_name(&frame.module);
    LIBRARIES.iter().any(|library| module.starts_with(library))
        || FUNCTIONS.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => plain(frame).starts_with(start),
            None => plain(frame) == *known,
        })
}

/// Whether memory that these functions mapped is one that blocks are cut from.
pub(crate) fn make_heap(frames: &[Frame]) -> bool {
    frames.iter().any(makes_heap) && !frames.iter().any(|frame| frame.function == GO_LARGE)
}

fn makes_heap(frame: &Frame) -> bool {
    tells(frame)
        || frame.function == GO_HEAP
        || HEAP_MAKERS.iter().any(|maker| plain(frame) == *maker)
}

/// Whether a function is in the library that tells of blocks.
pub(crate) fn tells(frame: &Frame) -> bool {
    file_name(&frame.module).starts_with(TELLER)
}

/// Whether this function makes a thread, for which it maps a stack.
pub(crate) fn makes_thread(frame: &Frame) -> bool {
    plain(frame).starts_with("pthread_create")
}

/// A name without the underscores before it and the compiler's and linker's marks behind it.
fn plain(frame: &Frame) -> &str {
    let name = frame.function.trim_start_matches('_');
    name.split(['@', '.']).next().unwrap_or(name)
}

/// Whether the name of a function, which may have the type of its result before it, begins so.
fn words_begin_with(function: &str, space: &str) -> bool {
    // Only before its arguments, and those of its template.
    let end = function
        .get(1..)
        .and_then(|rest| rest.find(['<', '(']))
        .map_or(function.len(), |at| at + 1);
    let name = &function[..end];
    name.starts_with(space) || name.split(' ').next_back().is_some_and(|it| it.starts_with(space))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, module: &str) -> Frame {
        Frame { function: function.into(), module: module.into(), ..Frame::default() }
    }

    #[test]
    fn allocators_are_known_wherever_they_are() {
        let passes_on = |function, module| only_passes_on(&frame(function, module));
        for function in [
            "malloc",
            "__libc_malloc",
            "_int_malloc",
            "sysmalloc_mmap.constprop.0",
            "operator new(unsigned long)",
            "operator new[](unsigned long)",
            "std::vector<int, std::allocator<int> >::reserve(unsigned long)",
            "void std::vector<int>::_M_realloc_insert<int const&>(int const&)",
            "__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)",
            "<alloc::raw_vec::RawVec<T,A>>::grow_one",
            "alloc::vec::Vec<T>::with_capacity",
            "__rustc::__rust_alloc",
            "mmap64",
            "runtime.mmap",
            "runtime.sysMapOS",
        ] {
            assert!(passes_on(function, "/bin/program"), "{function}");
        }
        assert!(passes_on("anything", "/usr/lib/libstdc++.so.6"));
        assert!(passes_on("", "/lib64/ld-linux-x86-64.so.2"));
        for function in ["main", "allocate_table", "Table::Table(std::vector<int>)", "xmalloc", ""]
        {
            assert!(!passes_on(function, "/bin/program"), "{function}");
        }
    }

    #[test]
    fn the_sources_of_a_language_are_not_the_programs() {
        let mut reserve = frame("reserve", "/bin/program");
        assert!(!only_passes_on(&reserve));
        reserve.line = Some("/usr/include/c++/12/bits/vector.tcc:79".into());
        assert!(only_passes_on(&reserve) && !is_allocator(&reserve));
    }

    #[test]
    fn threads_and_heaps_are_known() {
        assert!(makes_thread(&frame("pthread_create", "/lib/libc.so.6")));
        assert!(makes_thread(&frame("__pthread_create_2_1", "/bin/static")));
        assert!(makes_heap(&frame("malloc", "/x/libkilocore_allocations.so")));
        assert!(makes_heap(&frame("arena_get2.part.0", "/bin/static")));
        assert!(makes_heap(&frame("runtime.(*mheap).grow", "/bin/go")));
        assert!(!makes_heap(&frame("main", "/bin/static")));
        let large =
            ["runtime.(*mheap).grow", GO_LARGE, "main.table"].map(|it| frame(it, "/bin/go"));
        assert!(make_heap(&large[..1]) && !make_heap(&large));
    }
}
