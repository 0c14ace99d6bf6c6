//! The stack of free blocks under loom and shuttle: no block is ever given to two, and what its
//! last user did with it is seen by the next.

use std::sync::Arc;

use kilocore_checking::{Altered, Thorough, Threads, explore_part, model};
use kilocore_locks::{FreeBlock, FreeBlocks};
use kilocore_platform::{Loom, Padded, Platform, SharedCell, Shuttle};

type OnLoom = Altered<Loom, Thorough>;

/// A block, and what its user keeps in it.
#[repr(C)]
struct Block<P: Platform> {
    link: Padded<FreeBlock<P>>,
    used: P::Cell<u32>,
}

/// As many threads as `threads` take a block, use it and give it back, `rounds` times.
fn take_turns<P: Threads>(threads: u32, blocks: usize, rounds: u32) {
    let blocks: Arc<Vec<Box<Block<P>>>> = Arc::new(
        (0..blocks)
            .map(|_| Box::new(Block { link: Padded(FreeBlock::default()), used: P::Cell::new(0) }))
            .collect(),
    );
    let free = Arc::new(FreeBlocks::<P>::default());
    for block in blocks.iter() {
        // SAFETY: each once; they live until all threads have ended.
        unsafe { free.push(std::ptr::from_ref(&**block).cast_mut().cast()) };
    }
    let use_one = move |free: &FreeBlocks<P>, blocks: &[Box<Block<P>>]| {
        for _ in 0..rounds {
            let taken = free.pop();
            let Some(block) =
                blocks.iter().find(|block| std::ptr::addr_eq(&raw const ***block, taken))
            else {
                assert!(taken.is_null(), "no block of ours");
                continue;
            };
            // SAFETY: taken, and so nobody else's; the checker says if it is.
            block.used.with_mut(|used| unsafe { *used += 1 });
            // SAFETY: ours, and done with.
            unsafe { free.push(taken) };
        }
    };
    let others: Vec<_> = (1..threads)
        .map(|_| {
            let (free, blocks) = (free.clone(), blocks.clone());
            P::spawn(move || use_one(&free, &blocks))
        })
        .collect();
    use_one(&free, &blocks);
    others.into_iter().for_each(P::join);
    // All are here again, each once.
    for _ in 0..blocks.len() {
        assert!(!free.pop().is_null(), "a block was lost");
    }
    assert!(free.pop().is_null(), "a block is here twice");
}

#[test]
fn two_never_have_one_block() {
    model(Some(3), || take_turns::<OnLoom>(2, 1, 2));
    model(Some(4), || take_turns::<OnLoom>(2, 2, 2));
}

/// Three, because it takes one to be overtaken and two to overtake.
#[test]
fn three_never_have_one_block_under_shuttle() {
    explore_part(|| take_turns::<Shuttle>(3, 3, 3), 5_000, 4);
}
