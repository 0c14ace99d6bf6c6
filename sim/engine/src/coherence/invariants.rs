//! What must hold of caches that keep each other's rules, after any accesses.

use kilocore_platform::{Cycles, NodeId};

use super::line::{NO_SLOT, NOBODY};
use super::visit::Visit;
use super::{Access, Coherence};
use crate::costs::{CoreLocation, Costs};
use crate::ids::{CacheId, DomainId, GroupId, Id, LineId, SlotId, SocketId};
use crate::random::Random;

const DOMAINS: u32 = 2;
const CORES: u32 = 6;
const PAGES: u64 = 64;

fn place(core: u32) -> CoreLocation {
    let half = core / (CORES / DOMAINS);
    CoreLocation {
        cache: CacheId(core),
        group: GroupId(half),
        domain: DomainId(half),
        node: NodeId(half),
        socket: SocketId(half),
    }
}

/// Two nodes of three cores, whose caches have room for some pages.
fn costs(holds_private: bool, shared_kib: f64) -> Costs {
    let mut machine = kilocore_machine::find("xeon-8375c-2s").expect("built in");
    machine.caches.private_kib.value = 12.0;
    machine.caches.shared_kib.value = shared_kib;
    let mut costs = Costs::new(&machine);
    costs.holds_private = holds_private;
    costs
}

/// Panics if something does not hold.
fn check(memory: &Coherence) {
    let layers = memory.layers.as_ref().expect("there are regions");
    let mut places = vec![0; layers.frames.slots().count()];
    for (line, state) in memory.lines.enumerate() {
        let key = memory.key_of(line);
        let mut sharers = 0;
        for (cache, tags) in memory.private.enumerate() {
            let there = memory.in_private.contains(line, cache);
            assert_eq!(there, tags.contains(key, line), "{line:?} {cache:?}");
            let valid = memory.sharers.contains(line, cache);
            assert!(there || !valid, "{line:?} is valid without a place in {cache:?}");
            sharers += u32::from(valid);
            count(&mut places, state.slot, there);
            let domain = memory.places[cache].domain;
            if layers.holds_private && valid {
                assert!(memory.in_shared.contains(line, domain), "{line:?} is not below {cache:?}");
            }
        }
        assert_eq!(sharers, state.sharers, "{line:?}");
        if state.owner != NOBODY {
            assert!(sharers == 1 && memory.sharers.contains(line, state.owner), "{line:?}");
        }
        if state.migrated_to != NOBODY {
            assert!(sharers == 1 && memory.sharers.contains(line, state.migrated_to), "{line:?}");
            assert_eq!(state.owner, NOBODY, "{line:?}");
        }
        let mut in_shared = 0;
        for (domain, tags) in memory.shared.enumerate() {
            let there = memory.in_shared.contains(line, domain);
            assert_eq!(there, tags.contains(key, line), "{line:?} {domain:?}");
            count(&mut places, state.slot, there);
            in_shared += u32::from(there);
        }
        let written = layers.written[line];
        assert!(!written || sharers + in_shared > 0, "{line:?} was written and is nowhere");
    }
    for slot in layers.frames.slots() {
        let (counted, in_use) = layers.frames.places(slot);
        assert_eq!(counted, places[slot.index()], "{slot:?}");
        assert_eq!(in_use, counted > 0, "{slot:?}");
    }
}

fn count(places: &mut [u32], slot: SlotId, there: bool) {
    if slot != NO_SLOT {
        places[slot.index()] += u32::from(there);
    }
}

fn random_accesses(costs: &Costs) {
    let mut memory = Coherence::new(costs, (0..CORES).map(place).collect());
    let regions = [NodeId(0), NodeId(1)].map(|home| memory.add_region(costs, 1 << 20, home));
    let mut random = Random::new(1, 0);
    let mut below = |most: u64| random.bits() % most;
    let mut now = Cycles(0);
    let mut carried = 0;
    for round in 0..4000 {
        now += Cycles(1000);
        let here = place(below(u64::from(CORES)) as u32);
        let page = regions[below(2) as usize] + below(PAGES) as usize * 4096;
        let access = [Access::Read, Access::Write, Access::Rmw][below(3) as usize];
        if access == Access::Rmw || below(4) == 0 {
            // A word of a region or one of the host.
            let address = if below(2) == 0 { page } else { 1 << 20 };
            let line = memory.line_at(address + below(64) as usize * 64, 6, here.node);
            if !memory.hits(line, here.cache, access) {
                memory.serve(costs, line, here.cache, access, now);
            }
        } else {
            let mut visit = Visit::default();
            for index in 0..64 {
                let line: LineId = memory.line_at(page + index * 64, 6, here.node);
                memory.visit(costs, line, here, access, now, &mut visit);
            }
            assert_eq!(visit.found.lines(), 64);
            memory.finish_visit(costs, here.node, now, &mut visit);
            carried += visit.found.memory;
        }
        assert_eq!((memory.layers().sent_down, memory.layers().to_write_back), (0, false));
        if round % 16 == 0 {
            check(&memory);
        }
    }
    check(&memory);
    assert!(carried > 1000, "the caches are too large for this test");
    // Frames beyond what the caches hold have no lines.
    assert!(memory.layers().frames.slots().count() < 2 * PAGES as usize);
}

#[test]
fn an_inclusive_last_level_holds_all() {
    random_accesses(&costs(true, 64.0));
}

#[test]
fn a_last_level_of_what_left_the_cores_adds_up() {
    random_accesses(&costs(false, 64.0));
}

#[test]
fn no_last_level_at_all() {
    random_accesses(&costs(false, 0.0));
}

#[test]
fn reads_take_what_was_written() {
    for holds_private in [false, true] {
        let mut costs = costs(holds_private, 64.0);
        costs.migratory_sharing = true;
        random_accesses(&costs);
    }
}
