//! What updates cost natively: deferred-update logs beside what they have to beat.
//!
//! * **Pairs.** One thread puts one object in and takes it out, over and over: in a log, updates
//!   that cancel each other. The structure is a hash set and otherwise empty. Beside the time is how
//!   many uncontended atomic exchanges it is worth, which are timed right before; a log is meant to
//!   take no more than three.
//! * **Mixes.** Each thread puts objects of its own in and takes them out, every object in its turn
//!   and in random order, and searches once in so many updates. No object comes twice between two
//!   searches, so nothing cancels: a log has to apply every update, and whatever it costs beside is
//!   lost. About a thousand objects are in. Beside the figures is the ratio to the mutex; no log is
//!   meant to be twice as slow. An operation is an update or a search.
//!
//! Rounds are interleaved: each round measures everything once, so that a host that slows down for
//! a while slows all of it. Printed are medians over the rounds with their quartiles, and medians
//! of the ratios within a round. The time of one thread is its processor's, so that it does not count
//! what else runs there. The figures for two threads need two idle cores: on a busy host they tell
//! how a scheme bears that whoever is in its midst loses the processor. What the other libraries are
//! made to do is said in `libraries.rs`. Run it with
//! `cargo bench -p kilocore-comparisons --bench updates`.

mod libraries;
mod never;
mod subject;
mod work;

use crossbeam_skiplist::SkipSet;
use kilocore_ldu::{Adaptive, Deferred, Global, PerCore, TURNS};
use kilocore_locks::{Futex, NoSharing, Rwsem};
use kilocore_platform::Native;
use kilocore_rivals::{FlatCombining, Harris, Locked, Mutex, OpLog, Ordered, Stock, Unordered};
use scc::TreeIndex;

use crate::libraries::{AsItIs, HashSet, Inside, Replicated};
use crate::never::Never;
use crate::subject::{Intervals, Kind, Numbers, Shared, Subject};
use crate::work::{Mix, Pairs, exchange};

/// Rounds; each gives one figure of each kind for each subject.
const ROUNDS: usize = 15;
/// Updates for each search.
const UPDATES_PER_SEARCH: [usize; 4] = [1, 10, 100, 1000];
/// The subject that the others are compared with.
const REFERENCE: &str = "mutex";

type Lock = Rwsem<Native, TURNS>;
type Exclusive = NoSharing<Native, Futex<Native>>;

/// A subject that can be made as often as it takes.
trait Each {
    fn visit<S: Subject>(&mut self, name: &'static str, new: fn() -> S);
}

/// Shows each way to share a structure of kind `K`.
fn schemes<K: Kind>(each: &mut impl Each) {
    type Std<K> = Inside<std::sync::Mutex<<K as Kind>::Structure>, K>;
    type ParkingLot<K> = Inside<parking_lot::Mutex<<K as Kind>::Structure>, K>;
    each.visit(REFERENCE, Shared::<Locked<Native, Exclusive, Mutex>, K>::new);
    each.visit("rwlock", Shared::<Locked<Native, Lock, Stock>, K>::new);
    each.visit("std mutex", Std::<K>::new);
    each.visit("parking_lot", ParkingLot::<K>::new);
    each.visit("ldu-global", Shared::<Deferred<Native, Global<Native>, Lock>, K>::new);
    each.visit("ldu-per-core", Shared::<Deferred<Native, PerCore<Native>, Lock>, K>::new);
    let adaptive = Shared::<Deferred<Native, Global<Native>, Lock, Adaptive<Native>>, K>::new;
    each.visit("ldu-adaptive", adaptive);
    // The other of the two ways that an adaptive root has, beside `ldu-global`.
    let never = Shared::<Deferred<Native, Global<Native>, Lock, Never>, K>::new;
    each.visit("ldu, never logging", never);
    // Readers of the semaphore go to sleep as soon as a writer is inside. With the mutex, what is
    // left is the logs' own.
    let global = Shared::<Deferred<Native, Global<Native>, Exclusive>, K>::new;
    each.visit("ldu-global, mutex", global);
    let per_core = Shared::<Deferred<Native, PerCore<Native>, Exclusive>, K>::new;
    each.visit("ldu-per-core, mutex", per_core);
    each.visit("oplog", Shared::<OpLog<Native, Lock>, K>::new);
    each.visit("flat-combining", Shared::<FlatCombining<Native>, K>::new);
    each.visit("node-replication", Replicated::<K>::new);
    each.visit("harris", Shared::<Harris<Native, Ordered>, K>::new);
    each.visit("harris-unordered", Shared::<Harris<Native, Unordered>, K>::new);
}

/// Shows what is a set already.
fn sets(each: &mut impl Each) {
    each.visit("scc HashSet", || AsItIs(HashSet::default()));
    each.visit("scc TreeIndex", || AsItIs(TreeIndex::<u64, ()>::default()));
    each.visit("SkipSet", || AsItIs(SkipSet::<u64>::new()));
}

/// One subject's figures in one column.
#[derive(Default)]
struct Column {
    figures: Vec<f64>,
    ratios: Vec<f64>,
}

struct Row {
    name: &'static str,
    columns: Vec<Column>,
    measures: Vec<Box<dyn Fn() -> f64>>,
}

impl Row {
    fn new(name: &'static str, measures: Vec<Box<dyn Fn() -> f64>>) -> Self {
        let columns = measures.iter().map(|_| Column::default()).collect();
        Self { name, columns, measures }
    }
}

/// What a table's ratios are to.
#[derive(Clone, Copy, PartialEq)]
enum Measure {
    Exchange,
    Reference,
}

struct Table {
    title: String,
    headings: Vec<String>,
    measure: Measure,
    rows: Vec<Row>,
}

/// Makes the rows of a table of pairs.
struct ForPairs<'a>(&'a mut Vec<Row>);

impl Each for ForPairs<'_> {
    fn visit<S: Subject>(&mut self, name: &'static str, new: fn() -> S) {
        let pairs = Pairs::new(new());
        self.0.push(Row::new(name, vec![Box::new(move || pairs.run())]));
    }
}

/// Makes the rows of a table of mixes.
struct ForMixes<'a> {
    rows: &'a mut Vec<Row>,
    threads: usize,
}

impl Each for ForMixes<'_> {
    fn visit<S: Subject>(&mut self, name: &'static str, new: fn() -> S) {
        let measure = |updates| -> Box<dyn Fn() -> f64> {
            let mix = Mix::new(new(), self.threads, updates);
            Box::new(move || mix.run())
        };
        self.rows.push(Row::new(name, UPDATES_PER_SEARCH.map(measure).into()));
    }
}

impl Table {
    fn pairs() -> Self {
        let mut rows = vec![];
        schemes::<Numbers>(&mut ForPairs(&mut rows));
        sets(&mut ForPairs(&mut rows));
        Self {
            title: "pairs, one thread: ns per pair [quartiles], in exchanges".into(),
            headings: vec![String::new()],
            measure: Measure::Exchange,
            rows,
        }
    }

    fn mixes<K: Kind>(what: &str, threads: usize, more: impl FnOnce(&mut ForMixes<'_>)) -> Self {
        let mut rows = vec![];
        let mut each = ForMixes { rows: &mut rows, threads };
        schemes::<K>(&mut each);
        more(&mut each);
        let unit = if threads == 1 { "ns per operation" } else { "operations per us" };
        Self {
            title: format!("{what}, threads: {threads}: {unit} [quartiles], ratio to {REFERENCE}"),
            headings: UPDATES_PER_SEARCH
                .map(|updates| format!("updates per search: {updates}"))
                .into(),
            measure: Measure::Reference,
            rows,
        }
    }

    fn round(&mut self) {
        for column in 0..self.headings.len() {
            let mut reference = f64::NAN;
            for row in &mut self.rows {
                let exchange = exchange();
                let figure = row.measures[column]();
                if row.name == REFERENCE {
                    reference = figure;
                }
                let one = if self.measure == Measure::Exchange { exchange } else { reference };
                row.columns[column].figures.push(figure);
                row.columns[column].ratios.push(figure / one);
            }
        }
    }

    fn print(&self) {
        println!("\n{}", self.title);
        print!("{:<20}", "");
        self.headings.iter().for_each(|heading| print!("{heading:^34}"));
        println!();
        for row in &self.rows {
            print!("{:<20}", row.name);
            for Column { figures, ratios } in &row.columns {
                let [low, median, high] = quartiles(figures);
                let ratio = quartiles(ratios)[1];
                print!(" {median:>8.2} [{low:>7.2} {high:>7.2}] {ratio:>6.2}");
            }
            println!();
        }
    }
}

/// The quartiles of `figures`: lower, median, upper.
fn quartiles(figures: &[f64]) -> [f64; 3] {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}

fn main() {
    // Cargo tests benchmarks too, in debug builds: one round then, to see that it runs.
    let rounds = if std::env::args().any(|arg| arg == "--bench") { ROUNDS } else { 1 };
    let mut tables = vec![Table::pairs()];
    for threads in [1, 2] {
        tables.push(Table::mixes::<Numbers>("hash set", threads, |each| sets(each)));
        tables.push(Table::mixes::<Intervals>("interval tree", threads, |_| ()));
    }
    let mut exchanges = vec![];
    for _ in 0..rounds {
        exchanges.push(exchange());
        tables.iter_mut().for_each(Table::round);
    }
    let [low, median, high] = quartiles(&exchanges);
    println!("an exchange: {median:.2} ns [{low:.2} {high:.2}]");
    tables.iter().for_each(Table::print);
}
