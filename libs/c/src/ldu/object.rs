//! Objects. They lie in the caller's memory.

use kilocore_ldu::Node;
use kilocore_platform::Native;

/// The part of a C object that belongs to the library, `struct kc_ldu_object`.
pub(crate) type Object = Node<Native>;

// `struct kc_ldu_object` in the header has this size and alignment.
const _: () = assert!(size_of::<Object>() == 24 && align_of::<Object>() == 8);

/// Initializes an object. It is in no structure.
///
/// # Safety
/// `object` points to memory for an object that nobody else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_object_init(object: *mut Object) {
    // SAFETY: by the caller's promise.
    unsafe { object.write(Object::new()) };
}

/// Returns whether only the owner of a removed object can reach it.
///
/// # Safety
/// `object` points to an object that the caller owns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_is_settled(object: *const Object) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { (*object).is_settled() }
}
