//! A table of functions for each lock of a registry, under the name by which C knows it.

use core::ffi::{CStr, c_char};
use core::str::FromStr;

/// Pointers to tables, and a null pointer behind them.
#[repr(transparent)]
pub(crate) struct Tables<T: 'static, const N: usize>(pub(crate) [*const T; N]);

// SAFETY: they point to statics that may be shared.
unsafe impl<T: Sync, const N: usize> Sync for Tables<T, N> {}

impl<T, const N: usize> Tables<T, N> {
    /// Returns the address of the first pointer.
    pub(crate) const fn as_ptr(&self) -> *const *const T {
        self.0.as_ptr()
    }
}

/// Returns the table of the lock with this name, or null if no lock has it. `index` says which of the
/// tables a lock has.
///
/// # Safety
/// `name` points to a text that ends with a zero byte.
pub(crate) unsafe fn find<T, I: FromStr, const N: usize>(
    tables: &Tables<T, N>,
    name: *const c_char,
    index: impl FnOnce(I) -> usize,
) -> *const T {
    // SAFETY: by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let lock = name.to_str().ok().and_then(|name| name.parse().ok());
    lock.map_or(core::ptr::null(), |lock| tables.0[index(lock)])
}

/// Returns `text` and a zero byte behind it. `N` is one more than its length.
pub(crate) const fn terminated<const N: usize>(text: &str) -> [u8; N] {
    assert!(text.len() + 1 == N);
    let mut bytes = [0; N];
    let mut i = 0;
    while i < text.len() {
        bytes[i] = text.as_bytes()[i];
        i += 1;
    }
    bytes
}

/// Makes a C string, for ever, of a text that is known to the compiler.
macro_rules! c_string {
    ($text:expr) => {{
        static BYTES: [u8; $text.len() + 1] = crate::locks::tables::terminated($text);
        match core::ffi::CStr::from_bytes_with_nul(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("a name has no zero byte in it"),
        }
    }};
}
pub(crate) use c_string;

/// Writes a static of type `$table` for each lock by calling the function `algorithm` of the caller's
/// module, and `ALL`, the [`Tables`] in the order of the registry `$id`.
macro_rules! tables {
    ($table:ident, $id:ident: $($symbol:ident => $lock:ident;)*) => {
        $(
            #[doc = concat!("[`", stringify!($lock), "`](kilocore_locks::", stringify!($lock), ")")]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals)]
            pub static $symbol: $table = algorithm::<kilocore_locks::$lock<Native>>(
                crate::locks::tables::c_string!($id::$lock.info().name),
                crate::locks::tables::c_string!($id::$lock.info().title),
                $id::$lock.info(),
            );
        )*

        /// The tables in the order of the registry, and a null pointer behind them.
        static ALL: crate::locks::tables::Tables<$table, { $id::ALL.len() + 1 }> = {
            let mut tables = [core::ptr::null(); $id::ALL.len() + 1];
            $(tables[$id::$lock as usize] = &raw const $symbol;)*
            crate::locks::tables::Tables(tables)
        };
    };
}
pub(crate) use tables;
