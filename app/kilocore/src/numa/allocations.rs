//! Recording who allocates a program's memory.

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_reference_recorder::Allocations;

use crate::launch;

/// Which allocations are recorded.
#[derive(Debug, Args)]
pub(super) struct Blocks {
    /// Blocks of `malloc` with fewer bytes have no rows of their own; a page belongs to the block that has
    /// the byte in its middle
    #[arg(long, default_value_t = Allocations::SMALLEST_BLOCK, value_name = "BYTES",
        value_parser = clap::value_parser!(u64).range(1..))]
    smallest_block: u64,
}

impl Blocks {
    /// With the library from where the program is.
    pub(super) fn allocations(&self) -> Result<Allocations, Failure> {
        let library = launch::library("libkilocore_allocations.so")?;
        Ok(Allocations { library, smallest_block: self.smallest_block })
    }
}
