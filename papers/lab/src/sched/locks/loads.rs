//! The loads of the thesis, as parameters.
//!
//! No times of them are published. They are estimated from what the kernel does in each: a short system
//! call takes a microsecond or so, a section that changes a list a tenth of that, and touches the list's
//! head and a neighbour. What the thesis does say is which locks are fought for, and that four of the
//! five loads collapse on 32 cores.

use kilocore_platform::Nanos;

use crate::sched::locks::load::{Load, Section};

const ESTIMATED: &str = "estimated, shape only: the thesis names the locks and shows that throughput stops growing and collapses; it gives no figures";

const fn section(lock: &'static str, hold: u64, lines: u32, times: u32) -> Section {
    Section { lock, hold: Nanos(hold), lines, times }
}

/// Each process maps the same file, reads a byte of each page, and unmaps it.
pub const MMAPBENCH: Load = Load {
    name: "mmapbench",
    operation: "a stretch of the shared file mapped, its pages read, and unmapped",
    user: Nanos(1_000),
    kernel: Nanos(9_000),
    sections: &[section("i_mmap_lock", 300, 3, 2)],
    sleep: Nanos(0),
    collapses: true,
    source: ESTIMATED,
};

/// Each process makes a socket and closes it.
pub const SOCKBENCH: Load = Load {
    name: "sockbench",
    operation: "a socket made and closed",
    user: Nanos(200),
    kernel: Nanos(3_800),
    sections: &[section("dcache_lock", 120, 2, 2), section("inode_lock", 120, 2, 2)],
    sleep: Nanos(0),
    collapses: true,
    source: ESTIMATED,
};

/// Each process searches a directory tree in memory.
pub const PARALLEL_FIND: Load = Load {
    name: "parallel-find",
    operation: "a directory entry read and looked up",
    user: Nanos(1_500),
    kernel: Nanos(5_500),
    sections: &[section("dcache_lock", 200, 2, 2), section("inode_lock", 120, 1, 1)],
    sleep: Nanos(0),
    collapses: true,
    source: ESTIMATED,
};

/// Each process makes, reads, appends to and deletes small files in memory.
pub const PARALLEL_POSTMARK: Load = Load {
    name: "parallel-postmark",
    operation: "a transaction on a small file of tmpfs",
    user: Nanos(3_000),
    kernel: Nanos(12_000),
    sections: &[
        section("stat_lock", 80, 1, 4),
        section("dcache_lock", 150, 2, 2),
        section("inode_lock", 120, 2, 1),
    ],
    sleep: Nanos(0),
    collapses: true,
    source: "estimated, shape only: the thesis shows the collapse of its file server on tmpfs at the locks of the descriptor table and of the file system's statistics; Chen's patch for tmpfs (LKML, May 2010) tells of 75 % of the processors' time in fights for the latter, `stat_lock`, with 128 threads of another file server on 32 cores",
};

/// Each process compiles a file of the kernel at a time.
pub const KERNBENCH: Load = Load {
    name: "kernbench",
    operation: "a thousandth of a file compiled",
    user: Nanos(360_000),
    kernel: Nanos(40_000),
    sections: &[section("dcache_lock", 150, 2, 6)],
    sleep: Nanos(0),
    collapses: false,
    source: "estimated, shape only: the thesis has it as the load that does not collapse; a compiler computes for nine tenths of its time",
};

/// All loads, that which does not collapse last.
pub const LOADS: [Load; 5] = [MMAPBENCH, SOCKBENCH, PARALLEL_FIND, PARALLEL_POSTMARK, KERNBENCH];

/// The load of this name.
///
/// # Errors
/// The names that there are.
pub fn load_named(name: &str) -> Result<Load, String> {
    let known = LOADS.into_iter().find(|load| load.name == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = LOADS.iter().map(|load| load.name).collect();
        format!("there is no load '{name}'; choose {}", names.join(", "))
    })
}
