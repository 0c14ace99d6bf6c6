//! Where the threads' time went, and who waited for whom, as parts of a page.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, KernelLockWaits, RoleTimes, ThreadTimes};
use kilocore_show::{Mark, number};

use crate::waits_graph::WaitsGraph;
use crate::waits_words::{
    activities, coverage, duration, findings, kernel_locks, party, role_by_id, role_name,
    roles_in_order, share_or_nothing, word,
};

/// What the parts need of a page's style.
pub(crate) const WAITS_STYLE: &str = include_str!("../templates/waits.css");

/// Rows of a table on the page.
const MOST_ROWS: usize = 100;

/// What to sort by, and what to show.
type Cell = (f64, String);

/// A row of a table.
#[derive(Debug)]
pub(crate) struct WaitsRow {
    pub(crate) name: String,
    /// The parts of a bar: its class, and its width in per cent.
    pub(crate) parts: Vec<(&'static str, f64)>,
    pub(crate) cells: Vec<Cell>,
}

/// A row of the table of who waits for whom.
#[derive(Debug)]
pub(crate) struct EdgeRow {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) word: String,
    pub(crate) cells: [Cell; 2],
}

/// All of it, as `waits_parts.html` shows it.
#[derive(Debug)]
pub(crate) struct Waits {
    pub(crate) mark: Mark,
    pub(crate) findings: Vec<String>,
    pub(crate) coverage: Vec<String>,
    pub(crate) graph: Option<WaitsGraph>,
    pub(crate) ranking: Vec<WaitsRow>,
    pub(crate) headings: Vec<&'static str>,
    pub(crate) roles: Vec<WaitsRow>,
    pub(crate) more_roles: usize,
    pub(crate) words: Vec<WaitsRow>,
    pub(crate) more_words: usize,
    pub(crate) kernel_locks: Vec<WaitsRow>,
    pub(crate) edges: Vec<EdgeRow>,
    pub(crate) more_edges: usize,
}

impl Waits {
    /// The parts for these times, which were measured where the mark says.
    pub(crate) fn new(times: &ThreadTimes, mark: Mark) -> Self {
        let more = |all: usize| all.saturating_sub(MOST_ROWS);
        let activities = activities(times);
        Self {
            mark,
            findings: findings(times),
            coverage: coverage(times),
            graph: WaitsGraph::new(times),
            ranking: ranking(times),
            headings: activities.iter().map(|(_, name)| *name).collect(),
            roles: roles(times, &activities),
            more_roles: more(times.roles.len()),
            words: words(times),
            more_words: more(times.words.len()),
            kernel_locks: in_kernel(times),
            edges: edges(times),
            more_edges: more(times.edges.len()),
        }
    }
}

fn ranking(times: &ThreadTimes) -> Vec<WaitsRow> {
    let row = |one: &kilocore_lock_profile::Bottleneck| {
        let parts = [one.computing, one.ready, one.asleep];
        let rest = parts.into_iter().fold(one.waited_for, Nanoseconds::saturating_sub);
        let part = |time: Nanoseconds| {
            let part = time.share_of(one.waited_for);
            (part, share_or_nothing(part))
        };
        WaitsRow {
            name: role_by_id(times, one.role),
            parts: Vec::new(),
            cells: vec![
                (one.score, number::percent(one.score)),
                cell_of(one.waited_for),
                part(one.computing),
                part(one.ready),
                part(one.asleep),
                part(rest),
            ],
        }
    };
    times.ranking.iter().take(MOST_ROWS).map(row).collect()
}

fn roles(times: &ThreadTimes, activities: &[(usize, &'static str)]) -> Vec<WaitsRow> {
    let row = |role: &RoleTimes| {
        let whole = role.times.present();
        let named = role.times.named();
        let mut cells = vec![(role.threads as f64, number::count(role.threads))];
        cells.extend(activities.iter().map(|&(place, _)| {
            let part = named[place].1.share_of(whole);
            (part, share_or_nothing(part))
        }));
        WaitsRow { name: role_name(times, role), parts: parts(&role.times), cells }
    };
    roles_in_order(times).into_iter().take(MOST_ROWS).map(row).collect()
}

/// The parts of a role's bar.
fn parts(done: &Activities) -> Vec<(&'static str, f64)> {
    let others = done.waiting().saturating_sub(done.locks);
    let known = [done.computing(), done.ready, done.locks, others, done.unknown];
    let asleep = done.present().saturating_sub(Nanoseconds::saturating_sum(known));
    let parts = [
        ("computing", done.working()),
        ("spinning", done.spinning),
        ("no-core", done.ready),
        ("locks", done.locks),
        ("others", others),
        ("asleep", asleep),
        ("unknown", done.unknown),
    ];
    let percent = |(class, time): (_, Nanoseconds)| (class, 100.0 * time.share_of(done.present()));
    parts.into_iter().filter(|&(_, time)| time > Nanoseconds(0)).map(percent).collect()
}

fn words(times: &ThreadTimes) -> Vec<WaitsRow> {
    let whole = times.total().present();
    let row = |one: &kilocore_lock_profile::WaitedWord| WaitsRow {
        name: word(times, one.id),
        parts: Vec::new(),
        cells: wait_cells(one.threads, one.count, one.waited, whole),
    };
    times.words.iter().take(MOST_ROWS).map(row).collect()
}

fn in_kernel(times: &ThreadTimes) -> Vec<WaitsRow> {
    let whole = times.total().present();
    let row = |(one, name): (&KernelLockWaits, String)| {
        let cells = wait_cells(one.threads, one.count, one.waited, whole);
        WaitsRow { name, parts: Vec::new(), cells }
    };
    kernel_locks(times).take(MOST_ROWS).map(row).collect()
}

/// How many threads waited how often, for how long at a time, and for which share of the whole.
fn wait_cells(threads: u64, count: u64, waited: Nanoseconds, whole: Nanoseconds) -> Vec<Cell> {
    let (mean, of_all) = (waited.0 as f64 / count.max(1) as f64, waited.share_of(whole));
    vec![
        (threads as f64, number::count(threads)),
        (count as f64, number::count(count)),
        (mean, number::nanoseconds(mean)),
        (of_all, number::percent(of_all)),
    ]
}

/// A duration, and how it is shown.
fn cell_of(time: Nanoseconds) -> Cell {
    (time.calculated().0, duration(time))
}

fn edges(times: &ThreadTimes) -> Vec<EdgeRow> {
    let row = |edge: &kilocore_lock_profile::WaitEdge| EdgeRow {
        from: role_by_id(times, edge.from),
        to: party(times, edge.to),
        word: word(times, edge.word),
        cells: [cell_of(edge.direct), cell_of(edge.in_all)],
    };
    times.edges.iter().take(MOST_ROWS).map(row).collect()
}
