//! Costs computed by hand, for every policy, at the costs of the paper's table 1: a local reference 5,
//! a remote read 100, a remote write 10, an update 10, a page 4,096, a fault 500.

use kilocore_placement::{
    Account, Adjustable, AdjustableOptions, Burst, Carrefour, CarrefourOptions, Coherence,
    CopyCost, FirstReference, FixedDelay, LinuxBalancing, Memory, Never, Options, Page, Policy,
    Processor, Start, TlbOptions, WithUpdates,
};
use kilocore_platform::Cycles;

const LOCAL: u64 = 5;
const REMOTE_READ: u64 = 100;
const REMOTE_WRITE: u64 = 10;
const UPDATE: u64 = 10;
const PAGE: u64 = 4096;
const FAULT: u64 = 500;
const MESSAGE: u64 = 90;

/// A string of references on clocks that stand still, unless they are said to go on.
struct String {
    memory: Memory,
    now: Cycles,
}

fn string(processors: u32, policy: impl Policy + 'static) -> String {
    with(Options::lee_and_cho(processors), policy)
}

fn with(options: Options, policy: impl Policy + 'static) -> String {
    let memory = Memory::new(options, Box::new(policy)).unwrap().with_optimum();
    String { memory, now: Cycles(0) }
}

impl String {
    fn refer(&mut self, processor: u32, page: u32, burst: Burst) -> u64 {
        self.memory.refer(self.now, Processor(processor), Page(page), burst).0
    }

    /// A read, for its cost.
    fn read(&mut self, processor: u32, page: u32) -> u64 {
        self.refer(processor, page, Burst::READ)
    }

    /// A write, for its cost.
    fn write(&mut self, processor: u32, page: u32) -> u64 {
        self.refer(processor, page, Burst::WRITE)
    }

    fn account(&self) -> Account {
        *self.memory.account()
    }
}

#[test]
fn never_leaves_pages_where_they_were_touched_first() {
    let mut string = string(2, Never);
    assert_eq!(string.read(0, 0), LOCAL);
    assert_eq!(string.write(0, 0), LOCAL);
    assert_eq!(string.read(1, 0), REMOTE_READ);
    assert_eq!(string.write(1, 0), REMOTE_WRITE);
    assert_eq!(string.refer(1, 0, Burst { reads: 1000, writes: 10 }), 1000 * 100 + 10 * 10);
    let account = string.account();
    assert_eq!(account.references(), 1014);
    assert_eq!((account.remote_reads, account.remote_writes), (1001, 11));
    let cycles = 5 + 5 + 100 + 10 + 100_100;
    assert_eq!(account.namc(Cycles(5)), Some(cycles as f64 / (5.0 * 1014.0)));
}

#[test]
fn pages_can_be_dealt_to_the_nodes_in_turn() {
    let options = Options { start: Start::RoundRobin, ..Options::lee_and_cho(2) };
    let mut string = with(options, Never);
    string.memory.set_private(Page(1));
    assert_eq!(string.read(1, 0), REMOTE_READ, "page 0 lies on node 0");
    assert_eq!(string.read(1, 1), LOCAL, "page 1 is private");
    assert_eq!(string.read(1, 2), LOCAL, "page 2 is the next, on node 1");
    let account = string.account();
    assert_eq!((account.private_reads, account.shared_reads), (1, 2));
}

#[test]
fn first_reference_copies_before_it_is_served() {
    let mut string = string(3, FirstReference);
    string.read(0, 0);
    assert_eq!(string.read(1, 0), FAULT + PAGE + LOCAL);
    assert_eq!(string.read(1, 0), LOCAL);
    assert_eq!(string.write(2, 0), FAULT + PAGE + LOCAL + 2 * UPDATE, "home and one copy are told");
    assert_eq!(string.write(0, 0), LOCAL + 2 * UPDATE, "two copies are told");
}

#[test]
fn a_fixed_delay_counts_reads_and_writes_and_copies_after_the_last() {
    let mut string = string(2, FixedDelay { delay: 3 });
    string.read(0, 0);
    assert_eq!(string.read(1, 0), REMOTE_READ);
    assert_eq!(string.write(1, 0), REMOTE_WRITE);
    assert_eq!(string.read(1, 0), REMOTE_READ + FAULT + PAGE);
    assert_eq!(string.read(1, 0), LOCAL);
    assert_eq!(string.write(1, 0), LOCAL + UPDATE);
    assert_eq!(string.account().replications, 1);
}

#[test]
fn a_burst_costs_what_its_references_cost_one_by_one() {
    let mut string = string(2, FixedDelay { delay: 3 });
    string.read(0, 0);
    // Three remote reads, a copy, two local reads, four local writes with an update of the home.
    let burst = Burst { reads: 5, writes: 4 };
    assert_eq!(string.refer(1, 0, burst), 3 * 100 + 500 + 4096 + 2 * 5 + 4 * (5 + 10));
}

#[test]
fn a_copy_that_is_updated_more_than_used_is_given_up() {
    let mut string = string(2, WithUpdates { delay: 1, budget: 3 });
    string.read(0, 0);
    assert_eq!(string.read(1, 0), REMOTE_READ + FAULT + PAGE);
    for _ in 0..3 {
        assert_eq!(string.read(1, 0), LOCAL);
    }
    assert_eq!(string.write(0, 0), LOCAL + UPDATE);
    assert_eq!(string.write(0, 0), LOCAL + UPDATE);
    assert_eq!(string.write(0, 0), LOCAL + UPDATE + FAULT, "3 uses, 3 updates: it stays");
    assert_eq!(string.read(1, 0), LOCAL);
    assert_eq!(string.refer(0, 0, Burst { reads: 0, writes: 3 }), 3 * (LOCAL + UPDATE) + FAULT);
    assert_eq!(string.account().drops, 1, "1 use since then, 3 updates");
    assert_eq!(string.write(0, 0), LOCAL);
    assert_eq!(string.read(1, 0), REMOTE_READ + FAULT + PAGE, "and its delay begins again");
}

#[test]
fn write_invalidate_takes_other_copies_away() {
    let options = Options { coherence: Coherence::WriteInvalidate, ..Options::lee_and_cho(3) };
    let mut string = with(options, FixedDelay { delay: 1 });
    string.read(0, 0);
    string.read(1, 0);
    string.read(2, 0);
    assert_eq!(string.read(1, 0), LOCAL);
    assert_eq!(string.write(0, 0), LOCAL + 2 * UPDATE, "two copies are taken away");
    assert_eq!(string.read(1, 0), REMOTE_READ + FAULT + PAGE);
    // Node 2 has none any more. Its write takes that copy away, goes home, and ends a delay of 1.
    assert_eq!(string.write(2, 0), UPDATE + REMOTE_WRITE + FAULT + PAGE);
    // A writer keeps its own copy, and home is told.
    assert_eq!(string.write(2, 0), LOCAL + UPDATE);
    assert_eq!(string.read(2, 0), LOCAL);
    assert_eq!(string.account().invalidations, 3);
}

#[test]
fn no_more_copies_than_there_may_be() {
    let options = Options { most_copies: 2, ..Options::lee_and_cho(3) };
    let mut string = with(options, FixedDelay { delay: 2 });
    string.read(0, 0);
    string.refer(1, 0, Burst { reads: 2, writes: 0 });
    assert_eq!(string.refer(2, 0, Burst { reads: 2, writes: 0 }), 2 * REMOTE_READ + FAULT);
    assert_eq!(string.read(2, 0), REMOTE_READ);
    assert_eq!(string.account().replications, 1);
}

/// Brings node 1 a copy of page 0, at time 0.
fn adjusted(processors: u32, change: impl Fn(&mut AdjustableOptions)) -> String {
    let mut options = AdjustableOptions { period: Cycles(1000), ..AdjustableOptions::new(1000) };
    change(&mut options);
    let mut string = string(processors, Adjustable::new(options));
    string.read(0, 0);
    assert_eq!(
        string.refer(1, 0, Burst { reads: 1000, writes: 0 }),
        1000 * REMOTE_READ + FAULT + PAGE
    );
    string
}

/// How many remote reads of page 0 processor 2 needs for a copy.
fn delay_of_processor_2(string: &mut String) -> u64 {
    let before = string.account();
    string.refer(2, 0, Burst { reads: 10_000, writes: 0 });
    string.account().remote_reads - before.remote_reads
}

/// Lets the daemon of a node run, and that of node 2, which does what it was told.
fn daemons(string: &mut String, node: u32) -> u64 {
    string.now += Cycles(1000);
    let cost = string.read(node, 1 + node) - LOCAL;
    string.read(2, 3);
    cost
}

#[test]
fn a_gain_shortens_delays_of_others() {
    let mut string = adjusted(3, |_| ());
    // Worth it from (4596 / 5) / 19 = 48.4 local references on. 58 are 0.2 more: a step of
    // 250 + 0.199 * 500 = 349.
    string.refer(1, 0, Burst { reads: 58, writes: 0 });
    assert_eq!(daemons(&mut string, 1), MESSAGE, "processor 2 is told, 0 is at home");
    assert_eq!(delay_of_processor_2(&mut string), 1000 - 349);
}

#[test]
fn a_loss_lengthens_delays_of_others() {
    let mut string = adjusted(3, |_| ());
    // 38 of 48.4: a rate of -0.2145, and a step of 357.
    string.refer(1, 0, Burst { reads: 38, writes: 0 });
    assert_eq!(daemons(&mut string, 1), MESSAGE);
    assert_eq!(delay_of_processor_2(&mut string), 1000 + 357);
}

#[test]
fn a_small_gain_or_loss_changes_nothing() {
    for uses in [44, 53] {
        let mut string = adjusted(3, |_| ());
        string.refer(1, 0, Burst { reads: uses, writes: 0 });
        assert_eq!(daemons(&mut string, 1), 0);
        assert_eq!(delay_of_processor_2(&mut string), 1000);
    }
}

#[test]
fn updates_raise_what_a_copy_has_to_bring() {
    let mut string = adjusted(3, |_| ());
    string.refer(1, 0, Burst { reads: 58, writes: 0 });
    string.refer(0, 0, Burst { reads: 0, writes: 1000 });
    // (4596 + 1000 * 10) / 5 / 19 = 153.6: a rate of -0.62, and the largest step.
    daemons(&mut string, 1);
    assert_eq!(delay_of_processor_2(&mut string), 1000 + 500);
}

#[test]
fn costs_in_cycles_are_those_printed() {
    let mut string = adjusted(3, |options| options.unit = CopyCost::Cycles);
    // 4596 / 19 = 241.9. 290 are 0.199 more: 349.
    string.refer(1, 0, Burst { reads: 290, writes: 0 });
    daemons(&mut string, 1);
    assert_eq!(delay_of_processor_2(&mut string), 1000 - 349);
    let mut string = adjusted(3, |options| {
        options.unit = CopyCost::Cycles;
        options.with_fault = false;
    });
    // 4096 / 19 = 215.6: 0.345 more, 423.
    string.refer(1, 0, Burst { reads: 290, writes: 0 });
    daemons(&mut string, 1);
    assert_eq!(delay_of_processor_2(&mut string), 1000 - 423);
}

#[test]
fn adjusted_delays_stay_within_bounds() {
    let mut string = adjusted(3, |_| ());
    for _ in 0..3 {
        string.refer(1, 0, Burst { reads: 1000, writes: 0 });
        daemons(&mut string, 1);
    }
    assert_eq!(delay_of_processor_2(&mut string), 100, "three steps of 500 down");
    let mut string = adjusted(3, |_| ());
    for _ in 0..10 {
        daemons(&mut string, 1);
    }
    assert_eq!(delay_of_processor_2(&mut string), 5000, "ten steps of 500 up");
}

#[test]
fn a_delay_that_has_begun_is_adjusted_as_it_stands() {
    let mut string = adjusted(3, |_| ());
    string.refer(2, 0, Burst { reads: 600, writes: 0 });
    string.refer(1, 0, Burst { reads: 58, writes: 0 });
    daemons(&mut string, 1);
    // 400 were left, and a step of 349 would leave 51: the bound is 100.
    assert_eq!(delay_of_processor_2(&mut string), 100);
}

#[test]
fn steps_for_a_page_are_added_up_when_the_queue_is_full() {
    // Four processors have queues of 6 places.
    let mut string = adjusted(4, |_| ());
    string.refer(3, 0, Burst { reads: 1000, writes: 0 });
    string.refer(1, 0, Burst { reads: 58, writes: 0 });
    string.refer(3, 0, Burst { reads: 38, writes: 0 });
    // Node 1 says 349 less and node 3 says 357 more, three times each.
    for _ in 0..3 {
        string.now += Cycles(1000);
        string.read(1, 2);
        string.read(3, 4);
    }
    // Processor 2 has not run its daemon, and its queue is just full.
    let told = |string: &String| string.account().messages;
    assert_eq!(told(&string), 6);
    // The seventh makes it add up the six before.
    string.now += Cycles(1000);
    string.read(1, 2);
    assert_eq!(told(&string), 7);
    string.now = Cycles(0);
    assert_eq!(delay_of_processor_2(&mut string), 1000 + 3 * (357 - 349));
}

#[test]
fn a_copy_that_has_lost_can_be_given_up() {
    let mut string = adjusted(3, |options| options.drops = true);
    daemons(&mut string, 1);
    assert_eq!(string.account().drops, 1);
    assert_eq!(string.read(1, 0), REMOTE_READ);
}

#[test]
fn linux_moves_a_page_at_the_second_fault_in_a_row_from_a_node() {
    let mut string = string(2, LinuxBalancing::new(Cycles(1000), 65_536));
    string.read(0, 0);
    string.now = Cycles(1000);
    assert_eq!(string.read(1, 0), FAULT + REMOTE_READ, "the first fault");
    assert_eq!(string.read(1, 0), REMOTE_READ);
    string.now = Cycles(2000);
    assert_eq!(string.read(1, 0), FAULT + PAGE + LOCAL, "the second");
    assert_eq!(string.read(0, 0), REMOTE_READ);
    string.now = Cycles(3000);
    assert_eq!(string.read(0, 0), FAULT + REMOTE_READ);
    string.now = Cycles(4000);
    assert_eq!(string.read(1, 0), FAULT + LOCAL, "another node comes between");
    string.now = Cycles(5000);
    assert_eq!(string.read(0, 0), FAULT + REMOTE_READ);
    assert_eq!(string.account().migrations, 1);
}

/// Every reference is a sample.
fn carrefour() -> String {
    let sample_every = 1.try_into().unwrap();
    let options = CarrefourOptions { sample_every, ..CarrefourOptions::new(Cycles(1000)) };
    string(3, Carrefour::new(options))
}

#[test]
fn carrefour_moves_what_one_node_uses() {
    let mut string = carrefour();
    string.read(0, 0);
    string.now = Cycles(1000);
    string.read(0, 1); // a decision: one sample is not enough
    string.refer(1, 0, Burst { reads: 2, writes: 2 });
    string.now = Cycles(2000);
    assert_eq!(string.read(1, 0), FAULT + PAGE + LOCAL);
    assert_eq!(string.account().migrations, 1);
}

#[test]
fn carrefour_copies_what_several_nodes_read_until_it_is_written() {
    let mut string = carrefour();
    string.read(0, 0);
    string.read(1, 0);
    string.read(2, 0);
    string.now = Cycles(1000);
    assert_eq!(string.read(1, 0), 2 * (FAULT + PAGE) + LOCAL, "two nodes get copies");
    assert_eq!(string.write(0, 0), LOCAL + 2 * UPDATE);
    string.read(2, 0);
    string.now = Cycles(10_999);
    assert_eq!(
        string.read(1, 0),
        LOCAL,
        "the copies took 9,192 cycles: what was due meanwhile is left out"
    );
    string.now = Cycles(11_000);
    assert_eq!(string.read(1, 0), FAULT + REMOTE_READ, "the copies are gone");
    string.read(2, 0);
    string.now = Cycles(12_000);
    assert_eq!(string.read(1, 0), REMOTE_READ, "and never come again");
    assert_eq!(string.account().drops, 2);
}

#[test]
fn carrefour_spreads_what_several_nodes_write() {
    let mut string = carrefour();
    for page in 0..2 {
        for processor in 0..3 {
            string.write(processor, page);
        }
    }
    // Node 0 serves six samples and the others none. The first page goes to node 1, which then
    // serves three; the loads 3, 3, 0 are still uneven, and the second goes to node 2 as 0 + 3 < 3
    // is not so: it stays.
    string.now = Cycles(1000);
    assert_eq!(string.read(0, 0), FAULT + PAGE + REMOTE_READ);
    assert_eq!(string.account().migrations, 1);
    assert_eq!(string.read(1, 0), LOCAL);
}

#[test]
fn a_translation_buffer_stops_counting_at_its_largest_number() {
    let tlb = TlbOptions { entries: 4, counter_bits: 2, writes_back: true };
    let options = Options { tlb: Some(tlb), ..Options::lee_and_cho(2) };
    let mut string = with(options, FixedDelay { delay: 10 });
    string.read(0, 0);
    assert_eq!(string.refer(1, 0, Burst { reads: 3, writes: 0 }), 3 * REMOTE_READ + FAULT + PAGE);
    string.refer(1, 0, Burst { reads: 10, writes: 0 });
    assert_eq!(string.memory.machine().counter(Page(0), Processor(1)), 3);
}

#[test]
fn counts_that_make_room_go_back_to_the_page_table_or_are_lost() {
    for (writes_back, remote_reads) in [(true, 3), (false, 5)] {
        let tlb = TlbOptions { entries: 1, counter_bits: 13, writes_back };
        let options = Options { tlb: Some(tlb), ..Options::lee_and_cho(2) };
        let mut string = with(options, FixedDelay { delay: 3 });
        string.read(0, 0);
        string.read(1, 0);
        string.read(1, 0);
        string.read(1, 1); // page 0 makes room
        let before = string.account().remote_reads;
        string.refer(1, 0, Burst { reads: 10, writes: 0 });
        assert_eq!(2 + string.account().remote_reads - before, remote_reads);
        assert_eq!(string.account().tlb_misses, 4);
    }
}

#[test]
fn a_busy_memory_serves_one_reference_at_a_time() {
    let mut options = Options::lee_and_cho(2);
    options.costs.service = Cycles(3);
    let mut string = with(options, Never);
    assert_eq!(string.refer(0, 0, Burst { reads: 10, writes: 0 }), 50);
    assert_eq!(string.read(1, 0), 30 + REMOTE_READ, "ten come before it");
    string.now = Cycles(100);
    assert_eq!(string.read(1, 0), REMOTE_READ);
    assert_eq!(string.account().queued, 30);
}

#[test]
fn a_memory_does_not_wait_idle_for_who_is_busy_otherwise() {
    let mut options = Options::lee_and_cho(2);
    options.costs.service = Cycles(3);
    let mut string = with(options, FixedDelay { delay: 1 });
    string.read(0, 0);
    string.now = Cycles(10);
    // The copy takes 4596 cycles, and then there is one more read, of the copy.
    let burst = Burst { reads: 2, writes: 0 };
    assert_eq!(string.refer(1, 0, burst), REMOTE_READ + FAULT + PAGE + LOCAL);
    // Node 1 refers to its memory meanwhile.
    string.now = Cycles(20);
    assert_eq!(string.read(1, 1), LOCAL);
    assert_eq!(string.account().queued, 0);
}

#[test]
fn the_optimum_knows_whether_a_copy_will_pay() {
    let cost = |reads: u32, writes: u32| {
        let mut string = string(2, Never);
        string.read(0, 0);
        string.refer(1, 0, Burst { reads, writes: 0 });
        string.refer(0, 0, Burst { reads: 0, writes });
        string.memory.optimum().unwrap().0
    };
    // A copy costs 4596 and saves 95 a read.
    assert_eq!(cost(48, 0), LOCAL + 48 * REMOTE_READ);
    assert_eq!(cost(49, 0), LOCAL + FAULT + PAGE + 49 * LOCAL);
    assert_eq!(cost(1000, 7), LOCAL + FAULT + PAGE + 1000 * LOCAL + 7 * LOCAL, "dropped in time");
}

#[test]
fn the_optimum_keeps_a_copy_through_few_writes_and_not_through_many() {
    let cost = |writes: u32| {
        let mut string = string(2, Never);
        string.read(0, 0);
        string.refer(1, 0, Burst { reads: 100, writes: 0 });
        string.refer(0, 0, Burst { reads: 0, writes });
        string.refer(1, 0, Burst { reads: 100, writes: 0 });
        string.memory.optimum().unwrap().0
    };
    let twice = LOCAL + 2 * (FAULT + PAGE) + 200 * LOCAL;
    assert_eq!(cost(10), LOCAL + FAULT + PAGE + 200 * LOCAL + 10 * (LOCAL + UPDATE));
    assert_eq!(cost(460), twice + 460 * LOCAL, "460 updates cost more than another copy");
    assert_eq!(cost(459), twice - FAULT - PAGE + 459 * (LOCAL + UPDATE));
}

#[test]
fn the_optimum_of_write_invalidate_copies_anew_after_each_write() {
    let options = Options { coherence: Coherence::WriteInvalidate, ..Options::lee_and_cho(2) };
    let mut string = with(options, Never);
    string.read(0, 0);
    string.refer(1, 0, Burst { reads: 100, writes: 0 });
    string.write(0, 0);
    string.refer(1, 0, Burst { reads: 10, writes: 0 });
    let expected = LOCAL + FAULT + PAGE + 100 * LOCAL + LOCAL + 10 * REMOTE_READ;
    assert_eq!(string.memory.optimum().unwrap().0, expected);
}
