//! The events of a packet, as four columns.
//!
//! * **What happens**, a byte each: bit 0 is a release, bits 1 to 4 are the order, bit 5 says zeroed
//!   and bit 6 says movable.
//! * **Times**, as differences to the event before. The first of a packet counts from 0.
//! * **Where**: 0 if the cpu is that of the event before and the thread that of the cpu's last event,
//!   which is so for nearly all events. Otherwise two numbers: one more than the cpu, and the thread.
//! * **Pages**, as differences to the page that the cpu had last, of allocations and of releases
//!   apart. A program that gives back memory as it got it repeats these differences, and zstd finds
//!   what repeats.
//!
//! Each packet begins anew, so that it can be read without those before it.

use crate::{Cpu, Event, EventKind, Nanoseconds, Order, Page, Thread};
use kilocore_trace_file::{NoNumber, fold, put, take, unfold};

/// No packet has more events. What a program gives back all at once it often got in the same order
/// much earlier. So packets of this size are up to a quarter smaller than the same events in packets
/// of 65,536.
pub(crate) const MOST_EVENTS: usize = 1 << 18;
/// The most bytes that an event takes: what happens, the time, the place in two numbers, the page.
/// The four lengths are the rest.
const EVENT_BYTES: usize = 1 + 10 + 5 + 5 + 5;
/// No packet of events is larger, before it is packed.
pub(crate) const MOST_BYTES: usize = MOST_EVENTS * EVENT_BYTES + 4 * 10;
/// Each cpu and thread has a lower number than this. Linux has at most 2^22 threads at a time, but a
/// program may have more one after another.
pub(crate) const MOST_INDICES: u32 = 1 << 28;
/// No machine has more cpus.
pub(crate) const MOST_CPUS: u32 = 1 << 13;

const RELEASE: u8 = 1;
const ORDER_SHIFT: u8 = 1;
const ORDER_MASK: u8 = 0xf;
const ZEROED: u8 = 1 << 5;
const MOVABLE: u8 = 1 << 6;

/// What the next event is compared with.
#[derive(Debug, Default)]
struct Before {
    at: u64,
    cpu: usize,
    cpus: Vec<OfCpu>,
}

/// The same, of one cpu.
#[derive(Debug, Default, Clone, Copy)]
struct OfCpu {
    thread: u32,
    /// The last page allocated and the last released.
    pages: [u32; 2],
}

impl Before {
    fn at_cpu(&mut self, cpu: u32) -> &mut OfCpu {
        self.cpu = cpu as usize;
        if self.cpus.len() <= self.cpu {
            self.cpus.resize(self.cpu + 1, OfCpu::default());
        }
        &mut self.cpus[self.cpu]
    }
}

/// Makes columns of events, which are in the order of time.
pub(crate) fn encode(events: &[Event]) -> Vec<u8> {
    let mut columns = [const { Vec::new() }; 4];
    let mut before = Before::default();
    for event in events {
        let [whats, times, places, pages] = &mut columns;
        let (page, order) = event.kind.block();
        let (kind, flags) = match event.kind {
            EventKind::Allocate { zeroed, movable, .. } => {
                (0, (u8::from(zeroed) * ZEROED) | (u8::from(movable) * MOVABLE))
            }
            EventKind::Release { .. } => (RELEASE, 0),
        };
        whats.push(kind | order.number() << ORDER_SHIFT | flags);
        put(times, event.at.0.wrapping_sub(before.at));
        before.at = event.at.0;
        let same = before.cpu == event.cpu.0 as usize;
        let of_cpu = before.at_cpu(event.cpu.0);
        if same && of_cpu.thread == event.thread.0 {
            put(places, 0);
        } else {
            put(places, u64::from(event.cpu.0) + 1);
            put(places, event.thread.0.into());
            of_cpu.thread = event.thread.0;
        }
        let last = &mut of_cpu.pages[usize::from(kind)];
        put(pages, fold(i64::from(page.0) - i64::from(*last)));
        *last = page.0;
    }
    let mut all = Vec::with_capacity(columns.iter().map(|column| column.len() + 10).sum());
    for column in columns {
        put(&mut all, column.len() as u64);
        all.extend_from_slice(&column);
    }
    all
}

/// Why columns hold no events: the number of the event in the packet, counted from 0, and what is
/// wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) event: usize,
    pub(crate) what: &'static str,
}

/// Makes events of columns, which hold so many of them.
pub(crate) fn decode(mut all: &[u8], count: usize) -> Result<Vec<Event>, Malformed> {
    let mut column = || {
        let length = take(&mut all).ok()?;
        let (column, rest) = all.split_at_checked(usize::try_from(length).ok()?)?;
        all = rest;
        Some(column)
    };
    let columns = [column(), column(), column(), column()];
    let [Some(whats), Some(mut times), Some(mut places), Some(mut pages)] = columns else {
        return Err(Malformed { event: 0, what: "the packet's columns do not fit into it" });
    };
    if whats.len() != count || !all.is_empty() {
        return Err(Malformed { event: 0, what: "the packet has another number of events" });
    }
    let mut before = Before::default();
    let mut events = Vec::with_capacity(count);
    for (event, &code) in whats.iter().enumerate() {
        let read = one(code, &mut times, &mut places, &mut pages, &mut before);
        events.push(read.map_err(|what| Malformed { event, what })?);
    }
    if [times, places, pages].iter().any(|rest| !rest.is_empty()) {
        return Err(Malformed { event: count, what: "the packet has more than its events" });
    }
    Ok(events)
}

/// Takes the next event off the columns. The error says what is wrong with it.
fn one(
    code: u8,
    times: &mut &[u8],
    places: &mut &[u8],
    pages: &mut &[u8],
    before: &mut Before,
) -> Result<Event, &'static str> {
    let number =
        |column: &mut &[u8]| take(column).map_err(|NoNumber| "a column ends before its events do");
    before.at = before.at.checked_add(number(times)?).ok_or("its time is beyond all times")?;
    let at = Nanoseconds(before.at);
    let cpu = match number(places)? {
        0 => before.cpu as u32,
        cpu => {
            let cpu = u32::try_from(cpu - 1).ok().filter(|cpu| *cpu < MOST_CPUS);
            let cpu = cpu.ok_or("its cpu is beyond the last that there can be")?;
            let thread = u32::try_from(number(places)?).ok().filter(|it| *it < MOST_INDICES);
            before.at_cpu(cpu).thread =
                thread.ok_or("its thread is beyond the last that there can be")?;
            cpu
        }
    };
    let of_cpu = before.at_cpu(cpu);
    let thread = Thread(of_cpu.thread);
    let last = &mut of_cpu.pages[usize::from(code & RELEASE)];
    let page = i64::from(*last).checked_add(unfold(number(pages)?));
    let page = page.and_then(|page| u32::try_from(page).ok());
    *last = page.ok_or("its page is beyond the last that there can be")?;
    let page = Page(*last);
    let order = Order::new(code >> ORDER_SHIFT & ORDER_MASK)
        .map_err(|_| "its order is higher than there are")?;
    let kind = match (code & RELEASE != 0, code & ZEROED != 0, code & MOVABLE != 0) {
        _ if code & 0x80 != 0 => return Err("it is of no kind that is known"),
        (true, false, false) => EventKind::Release { page, order },
        (true, ..) => return Err("it is of no kind that is known"),
        (false, zeroed, movable) => EventKind::Allocate { page, order, zeroed, movable },
    };
    Ok(Event { at, cpu: Cpu(cpu), thread, kind })
}
