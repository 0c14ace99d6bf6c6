//! Objects, in the caller's memory.

use kilocore_ldu::Node;
use kilocore_platform::Native;

/// What a C object embeds.
pub(crate) type Object = Node<Native>;

// The header says so.
const _: () = assert!(size_of::<Object>() == 24 && align_of::<Object>() == 8);

/// Makes memory an object that is in no structure.
///
/// # Safety
/// `object` points to memory for an object that nobody else uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_object_init(object: *mut Object) {
    // SAFETY: by the caller's promise.
    unsafe { object.write(Object::new()) };
}

/// Whether nobody but the owner of a removed object can reach it.
///
/// # Safety
/// `object` points to an object that the caller owns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_ldu_is_settled(object: *const Object) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { (*object).is_settled() }
}
