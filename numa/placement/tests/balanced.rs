//! The balanced policy's costs, computed by hand at the costs of the paper's table 1. Bringing a copy
//! costs 4,596 cycles. A read of it saves 95, a write of it loses 5, and a write by others costs 10.

use kilocore_placement::{
    Balanced, BalancedOptions, Burst, Coherence, Memory, Options, Page, Processor, Weights,
};
use kilocore_platform::Cycles;

const BRINGING: u64 = 4096 + 500;

/// Copies are brought when they would have saved all of what they cost.
const CAUTIOUS: BalancedOptions =
    BalancedOptions { least_share: 1.0, patience: 1.0, stretch: 1.0, weights: WEIGHTS };

const WEIGHTS: Weights = Weights { learning: 1.0 / 64.0, all_pages: 2.0, fading: 0.9 };

fn memory(options: Options, policy: BalancedOptions) -> Memory {
    let mut memory = Memory::new(options, Box::new(Balanced::new(policy))).unwrap();
    refer(&mut memory, 0, 1, 0); // page 0 is at home on node 0
    memory
}

fn refer(memory: &mut Memory, processor: u32, reads: u32, writes: u32) -> u64 {
    refer_to(memory, processor, 0, reads, writes)
}

fn refer_to(memory: &mut Memory, processor: u32, page: u32, reads: u32, writes: u32) -> u64 {
    memory.refer(Cycles(0), Processor(processor), Page(page), Burst { reads, writes }).0
}

#[test]
fn a_copy_is_brought_when_it_would_have_saved_its_cost() {
    let mut memory = memory(Options::lee_and_cho(2), CAUTIOUS);
    assert_eq!(refer(&mut memory, 1, 48, 0), 48 * 100, "4560 would have been saved");
    assert_eq!(refer(&mut memory, 1, 1, 0), 100 + BRINGING, "4655");
    assert_eq!(refer(&mut memory, 1, 1, 0), 5);
}

#[test]
fn writes_of_others_and_own_ones_count_against_it() {
    let mut memory = memory(Options::lee_and_cho(2), CAUTIOUS);
    refer(&mut memory, 1, 40, 4); // 3800 - 20
    refer(&mut memory, 0, 0, 100); // - 1000
    assert_eq!(refer(&mut memory, 1, 18, 0), 18 * 100, "3780 - 1000 + 1710 is 4490");
    assert_eq!(refer(&mut memory, 1, 2, 0), 2 * 100 + BRINGING, "4680");
    assert_eq!(memory.account().replications, 1);
}

#[test]
fn what_would_have_been_lost_is_forgotten() {
    let mut memory = memory(Options::lee_and_cho(2), CAUTIOUS);
    refer(&mut memory, 0, 0, 10_000);
    refer(&mut memory, 1, 0, 10_000);
    assert_eq!(refer(&mut memory, 1, 49, 0), 49 * 100 + BRINGING, "the sum begins at 0");
}

#[test]
fn a_copy_that_has_lost_as_much_is_given_up() {
    let mut memory = memory(Options::lee_and_cho(2), CAUTIOUS);
    refer(&mut memory, 1, 49, 0);
    assert_eq!(refer(&mut memory, 0, 0, 459), 459 * 15, "4590 lost");
    assert_eq!(refer(&mut memory, 0, 0, 1), 15, "4600: this one is still told");
    assert_eq!(memory.account().drops, 1);
    assert_eq!(refer(&mut memory, 0, 0, 1), 5);
    assert_eq!(refer(&mut memory, 1, 48, 0), 48 * 100, "and it begins again from 0");
    assert_eq!(refer(&mut memory, 1, 1, 0), 100 + BRINGING);
}

#[test]
fn what_a_copy_saves_makes_up_for_what_it_loses() {
    let mut memory = memory(Options::lee_and_cho(2), CAUTIOUS);
    refer(&mut memory, 1, 49, 0);
    for _ in 0..100 {
        refer(&mut memory, 0, 0, 400); // 4000 lost
        refer(&mut memory, 1, 50, 0); // 4750 saved
    }
    assert_eq!(memory.account().drops, 0);
}

#[test]
fn copies_that_pay_make_the_next_ones_come_sooner() {
    let options = BalancedOptions {
        least_share: 0.0,
        weights: Weights { learning: 1.0, ..WEIGHTS },
        ..CAUTIOUS
    };
    let mut memory = memory(Options::lee_and_cho(2), options);
    // Half of the copies paid, it is supposed: 2298 have to be saved, 25 reads.
    assert_eq!(refer(&mut memory, 1, 24, 0), 24 * 100);
    assert_eq!(refer(&mut memory, 1, 1, 0), 100 + BRINGING);
    refer(&mut memory, 1, 49, 0); // it has paid
    refer_to(&mut memory, 0, 1, 1, 0);
    assert_eq!(refer_to(&mut memory, 1, 1, 1, 0), 100 + BRINGING, "at once");
    // That one is given up before it has paid. Now none pay, and all has to be saved.
    refer_to(&mut memory, 0, 1, 0, 460);
    assert_eq!(memory.account().drops, 1);
    refer_to(&mut memory, 0, 2, 1, 0);
    assert_eq!(refer_to(&mut memory, 1, 2, 48, 0), 48 * 100);
    assert_eq!(refer_to(&mut memory, 1, 2, 1, 0), 100 + BRINGING);
}

#[test]
fn copies_of_the_same_page_tell_more_than_those_of_others() {
    let options = BalancedOptions {
        least_share: 0.0,
        weights: Weights { learning: 1.0, all_pages: 0.5, ..WEIGHTS },
        ..CAUTIOUS
    };
    let mut memory = memory(Options::lee_and_cho(3), options);
    refer(&mut memory, 1, 25, 0);
    refer(&mut memory, 1, 49, 0); // page 0's copy on node 1 has paid
    refer_to(&mut memory, 0, 1, 1, 0);
    refer_to(&mut memory, 1, 1, 1, 0);
    refer_to(&mut memory, 0, 1, 0, 460); // page 1's is given up: of all pages' copies, none pay
    assert_eq!(memory.account().drops, 1);
    // Page 0: 1 of 1 paid, and 0 of all pages' that count as a half: two thirds. 1532 have to be saved.
    assert_eq!(refer(&mut memory, 2, 16, 0), 16 * 100);
    assert_eq!(refer(&mut memory, 2, 1, 0), 100 + BRINGING);
    refer(&mut memory, 2, 49, 0); // it has paid, and so have all pages' copies again
    // Page 1: 0 of 1 paid, and 1 of all pages' that count as a half: one third. 3064 have to be saved.
    assert_eq!(refer_to(&mut memory, 1, 1, 32, 0), 32 * 100);
    assert_eq!(refer_to(&mut memory, 1, 1, 1, 0), 100 + BRINGING);
    refer_to(&mut memory, 1, 1, 49, 0); // it has paid
    // Page 1: 1 of 1.9, as the earlier copy counts for 0.9, and 1 that counts as a half: 1.5 of 2.4.
    // 1723 and a half have to be saved.
    assert_eq!(refer_to(&mut memory, 2, 1, 18, 0), 18 * 100);
    assert_eq!(refer_to(&mut memory, 2, 1, 1, 0), 100 + BRINGING);
}

/// With a stretch of 4 and what happened to this page alone.
#[test]
fn copies_that_should_have_stayed_are_given_up_later() {
    let weights = Weights { learning: 1e-9, all_pages: 1e-9, fading: 1.0 };
    let options = BalancedOptions { stretch: 4.0, weights, ..CAUTIOUS };
    let mut memory = memory(Options::lee_and_cho(2), options);
    refer(&mut memory, 1, 49, 0);
    refer(&mut memory, 0, 0, 460); // 4600 lost: of none it is known whether it should go, so it goes
    assert_eq!(memory.account().drops, 1);
    refer(&mut memory, 1, 49, 0); // it is brought again at once: it should have stayed
    refer(&mut memory, 0, 0, 1838); // 18380 of 4 times 4596
    assert_eq!(memory.account().drops, 1);
    refer(&mut memory, 0, 0, 1); // 18390
    assert_eq!(memory.account().drops, 2);
    refer(&mut memory, 0, 0, 460);
    refer(&mut memory, 1, 0, 1); // 4600 have been spared: this time it was right, so it is half of two
    refer(&mut memory, 1, 49, 0);
    refer(&mut memory, 0, 0, 459); // 4590
    assert_eq!(memory.account().drops, 2);
    refer(&mut memory, 0, 0, 1);
    assert_eq!(memory.account().drops, 3);
}

#[test]
fn copies_that_were_rightly_given_up_go_sooner_next_time() {
    let weights = Weights { learning: 1e-9, all_pages: 1e-9, fading: 1.0 };
    let options = BalancedOptions { stretch: 4.0, weights, ..CAUTIOUS };
    let mut memory = memory(Options::lee_and_cho(2), options);
    refer(&mut memory, 1, 49, 0);
    refer(&mut memory, 0, 0, 460);
    refer(&mut memory, 0, 0, 1000);
    refer(&mut memory, 1, 49, 0); // 10000 less 4655 have been spared
    assert_eq!(memory.account().replications, 2);
    refer(&mut memory, 0, 0, 114); // 1140 of a quarter of 4596
    assert_eq!(memory.account().drops, 1);
    refer(&mut memory, 0, 0, 1);
    assert_eq!(memory.account().drops, 2);
}

#[test]
fn a_page_whose_number_is_used_again_has_had_no_copies() {
    let options = BalancedOptions {
        least_share: 0.0,
        weights: Weights { learning: 1e-9, all_pages: 0.5, ..WEIGHTS },
        ..CAUTIOUS
    };
    let mut memory = memory(Options::lee_and_cho(2), options);
    refer(&mut memory, 1, 25, 0);
    refer(&mut memory, 1, 49, 0); // it has paid
    memory.forget(Page(0));
    refer(&mut memory, 0, 1, 0);
    assert_eq!(refer(&mut memory, 1, 24, 0), 24 * 100, "half of what it costs has to be saved");
    assert_eq!(refer(&mut memory, 1, 1, 0), 100 + BRINGING);
}

#[test]
fn under_write_invalidate_a_write_ends_the_sum() {
    let options = Options { coherence: Coherence::WriteInvalidate, ..Options::lee_and_cho(2) };
    let mut memory = memory(options, CAUTIOUS);
    refer(&mut memory, 1, 48, 0);
    refer(&mut memory, 0, 0, 1);
    assert_eq!(refer(&mut memory, 1, 48, 0), 48 * 100);
    assert_eq!(refer(&mut memory, 1, 1, 0), 100 + BRINGING);
}

#[test]
fn nobody_else_has_more_copies_than_there_may_be() {
    let options = Options { most_copies: 1, ..Options::lee_and_cho(2) };
    let mut memory = memory(options, CAUTIOUS);
    refer(&mut memory, 1, 1000, 0);
    assert_eq!(memory.account().replications, 0);
}
