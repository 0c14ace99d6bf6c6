//! Memory of a node, by the policies of Linux.
//!
//! * **The copy itself** is in pages of its own, which are bound to the node (`mbind`). They stay there when
//!   they come back from swap, and the kernel's balancing of nodes leaves them alone.
//! * **What the copy owns** is allocated by whoever makes or changes it. Meanwhile, the thread prefers the
//!   node (`set_mempolicy`), and so gets fresh pages there. Moving the thread to the node
//!   (`sched_setaffinity`) would do the same, but takes a hundred times as long, and is not possible if
//!   the process may not run there.
//!
//! Both *prefer* the node. If its memory is full, or if it has none, the kernel takes the nearest.

use kilocore_platform::NodeId;

use crate::node_memory::NodeMemory;

/// The policies of this system.
pub(crate) struct System;

const MPOL_DEFAULT: libc::c_int = 0;
const MPOL_PREFERRED: libc::c_int = 1;
/// Moves pages that are elsewhere already.
const MPOL_MF_MOVE: libc::c_long = 2;

/// A set of nodes, as large as the largest that Linux can be built for.
type Mask = [u64; 16];
const NODES: usize = size_of::<Mask>() * 8;
/// What the system calls take for the number of nodes. The kernel takes one off.
const MASK_BITS: usize = NODES + 1;

fn only(node: NodeId) -> Option<Mask> {
    let mut mask = [0; 16];
    *mask.get_mut(node.0 as usize / 64)? = 1 << (node.0 % 64);
    Some(mask)
}

fn set_policy(start: *mut u8, bytes: usize, policy: libc::c_int, mask: Option<&Mask>) -> bool {
    let bits = mask.map_or(0, |_| MASK_BITS);
    let mask = mask.map_or(core::ptr::null(), |mask| mask.as_ptr());
    let flags = if policy == MPOL_DEFAULT { 0 } else { MPOL_MF_MOVE };
    // SAFETY: the call changes where pages are, and not what is in them. The mask is null and has no bits,
    // or is large enough.
    unsafe { libc::syscall(libc::SYS_mbind, start, bytes, policy, mask, bits, flags) == 0 }
}

impl NodeMemory for System {
    fn page_bytes(&self) -> usize {
        // SAFETY: sysconf only reads.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(1 << 16)
    }

    fn bind(&self, start: *mut u8, bytes: usize, node: NodeId) -> bool {
        only(node).is_some_and(|mask| set_policy(start, bytes, MPOL_PREFERRED, Some(&mask)))
    }

    fn unbind(&self, start: *mut u8, bytes: usize) {
        set_policy(start, bytes, MPOL_DEFAULT, None);
    }

    fn on(&self, node: NodeId, work: &mut dyn FnMut()) {
        let _restored_at_the_end = Preference::begin(node);
        work();
    }
}

/// The policy that the thread had before it came to prefer a node. It has it again when this is dropped, also
/// by a panic.
struct Preference {
    mode: libc::c_int,
    mask: Mask,
}

impl Preference {
    fn begin(node: NodeId) -> Option<Self> {
        let wanted = only(node)?;
        let mut before = Self { mode: MPOL_DEFAULT, mask: [0; 16] };
        let Self { mode, mask } = &mut before;
        // SAFETY: the kernel writes a number and a mask of so many bits, less one; there is room for both.
        // No address and no flags ask for the thread's own policy.
        let known = unsafe {
            let mode: *mut libc::c_int = mode;
            let nowhere = core::ptr::null::<u8>();
            libc::syscall(libc::SYS_get_mempolicy, mode, mask.as_mut_ptr(), MASK_BITS, nowhere, 0)
                == 0
        };
        (known && set_own_policy(MPOL_PREFERRED, &wanted)).then_some(before)
    }
}

impl Drop for Preference {
    fn drop(&mut self) {
        set_own_policy(self.mode, &self.mask);
    }
}

fn set_own_policy(mode: libc::c_int, mask: &Mask) -> bool {
    // SAFETY: the mask is large enough, and is only read.
    unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), MASK_BITS) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns nothing if a filter of system calls forbids policies.
    fn own_policy() -> Option<(libc::c_int, Mask)> {
        Preference::begin(NodeId(0)).map(|before| (before.mode, before.mask))
    }

    #[test]
    fn a_thread_has_its_policy_again_after_work_on_a_node() {
        let mine = own_policy();
        System.on(NodeId(0), &mut || {
            assert!(own_policy().is_none_or(|(mode, _)| mode == MPOL_PREFERRED));
        });
        assert_eq!(own_policy(), mine);
        let panics = std::panic::AssertUnwindSafe(|| System.on(NodeId(0), &mut || panic!("work")));
        std::panic::catch_unwind(panics).expect_err("it panics");
        assert_eq!(own_policy(), mine);
        // It is done all the same on a node that does not exist.
        let mut done = false;
        System.on(NodeId(5000), &mut || done = true);
        System.on(NodeId(1000), &mut || assert_eq!(own_policy(), mine));
        assert!(done);
    }

    /// Returns the policy of the memory at an address, as the kernel shows it if it knows nodes.
    fn policy_at(address: usize) -> Option<std::string::String> {
        let maps = std::fs::read_to_string("/proc/self/numa_maps").ok()?;
        let start = |line: &str| usize::from_str_radix(line.split(' ').next()?, 16).ok();
        let lines = maps.lines().filter_map(|line| Some((start(line)?, line)));
        let (_, line) = lines.filter(|(start, _)| *start <= address).max_by_key(|line| line.0)?;
        line.split(' ').nth(1).map(std::string::String::from)
    }

    #[test]
    fn pages_are_bound_to_nodes_that_exist() {
        let bytes = System.page_bytes();
        let layout = std::alloc::Layout::from_size_align(bytes, bytes).expect("a power of two");
        // SAFETY: the size is not zero.
        let page = unsafe { std::alloc::alloc(layout) };
        // SAFETY: it was allocated above, and is freed below.
        unsafe { page.write(7) };
        let allowed = own_policy().is_some();
        assert_eq!(System.bind(page, bytes, NodeId(0)), allowed);
        let is = |policy: &str| policy_at(page.addr()).is_none_or(|now| !allowed || now == policy);
        assert!(is("prefer:0"));
        assert!(!System.bind(page, bytes, NodeId(1000)) && !System.bind(page, bytes, NodeId(5000)));
        // SAFETY: as above.
        assert_eq!(unsafe { page.read() }, 7);
        System.unbind(page, bytes);
        assert!(is("default"));
        // SAFETY: allocated above with this layout.
        unsafe { std::alloc::dealloc(page, layout) };
    }
}
