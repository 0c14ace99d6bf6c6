//! The macro that exports functions under the names of glibc's.
//!
//! If glibc had a second name with two leading underscores for a function, the function is exported
//! under that name too. Old programs and the libraries of older glibc versions call these names. A
//! lock must not be acquired by one algorithm and released by another.

/// Exports functions that pass their arguments on. Each is exported under one or more names.
macro_rules! export {
    ($($doc:literal $($name:ident)/+ = $args:tt $call:expr;)*) => {
        $($($crate::export::export!(@function $doc $name $args $call);)+)*
    };
    (@function $doc:literal $name:ident ($($arg:ident: $type:ty),*) $call:expr) => {
        #[doc = $doc]
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the program keeps the contract of the function that it meant to call.
            unsafe { $call }
        }
    };
}

pub(crate) use export;
