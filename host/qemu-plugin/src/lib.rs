//! QEMU's interface for plugins, declared from its documentation.
//!
//! [`api`] has QEMU's functions as they are, from version 1 of the interface (QEMU 7.2) on. The rest is what
//! each plugin needs besides: [`plugin!`] defines what QEMU looks for, [`access`] whether
//! an access loads or stores, [`instruction`] what an instruction may do, [`frames`] who called whom, and
//! [`instruction_bytes`] and [`read`] look at the program's memory.
//!
//! This crate is under the GNU General Public License, version 2 or later, because plugins become parts of
//! QEMU. So only crates under this licence may use it.
//!
//! # Decisions
//! * **A plugin names a version that its QEMU has.** QEMU refuses plugins that name an older one than it
//!   supports, or a newer one than it has. What is declared here is the same in all versions; what is not is
//!   looked up while QEMU runs ([`api::add_inline`]).
//! * **What an access is, a function of QEMU's says**, and it is asked once where the bits are that it looks
//!   at ([`access`]): asking it each time would double what an access costs. QEMU can also call a function at
//!   loads only, and another one at stores only. In version 7.2 these are mixed up, so that loads count as
//!   stores.
//! * **The bytes of instructions are read from the program's memory.** QEMU has a function for them,
//!   `qemu_plugin_insn_data`, but its arguments and what it returns changed under the same name with version
//!   3 of the interface. The bytes in memory are those that QEMU is translating, in all versions, and the
//!   system refuses to read where there are none.
#![deny(missing_docs)]

pub mod access;
pub mod api;
mod code;
mod entry;
pub mod frames;
mod guest_base;
pub mod instruction;
mod mappings;
mod memory;
mod version;

pub use code::instruction_bytes;
#[doc(hidden)]
pub use entry::install;
pub use guest_base::guest_base;
pub use mappings::{mappings, remember_own_mappings};
pub use memory::{read, text, write};
#[doc(hidden)]
pub use version::{OLD, choose};
