//! Tells an emulator that a thread waits.

use crate::Atomic;

/// Tells an emulator that the calling thread has just read `cell` and does nothing but read it again until somebody
/// writes it, or so many times as are `left`. An emulator that knows this lets it sleep until then, and takes away from
/// `left` how often it would have read the cell meanwhile. Elsewhere, this reads both, and changes nothing.
///
/// The emulator finds the instruction `nop dword ptr [rax + rax + 0x74776c6b]`, whose last bytes are `klwt`. The two
/// instructions after it read the cell and the number.
#[inline(always)]
pub fn announce_wait<A: Atomic>(cell: &A, left: &mut u32) {
    // There may be implementations without any bytes.
    if size_of::<A>() == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: both are live and have bytes. A byte of each is read, which no other thread can notice, and the result is dropped. An
    // emulator may write the number, which is the caller's alone.
    unsafe {
        core::arch::asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00, 0x6b, 0x6c, 0x77, 0x74",
            "test byte ptr [{cell}], 0",
            "test byte ptr [{left}], 0",
            cell = in(reg) core::ptr::from_ref(cell),
            left = in(reg) core::ptr::from_mut(left),
            options(nostack),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cell, left);
}
