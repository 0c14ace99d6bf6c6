//! The results for people: the paper's figures, and what its text says below the simulated ones.

use kilocore_lab::lru::{Claims, Pattern, Point, Variant, claims};
use kilocore_show::{Mark, Provenance, Table, number};

use super::results::Results;

/// All tables that there are figures for.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables = vec![throughput(results)];
    // Reads add nothing.
    if results.pattern != Pattern::Read {
        tables.push(lock_wait(results));
    }
    tables.extend(against_stock(results));
    if results.factors.len() > 1 && results.variants.iter().any(|variant| variant.has_factor()) {
        tables.push(by_factor(results));
    }
    tables
}

/// A row for each variant with each factor, a column for each number of threads.
fn by_threads(
    results: &Results<'_>,
    variants: &[Variant],
    name: &str,
    title: &str,
    cell: impl Fn(Variant, u32, u32) -> String,
) -> Table {
    let row = |variant: Variant, factor: u32| {
        let cells = results.threads.iter().map(|&threads| cell(variant, factor, threads));
        let front = if variant.has_factor() {
            format!("{variant}, {factor}")
        } else {
            variant.name().to_owned()
        };
        (front, cells.collect())
    };
    let of_variant = |&variant: &Variant| {
        let factors = if variant.has_factor() { results.factors } else { &[1] };
        factors.iter().map(move |&factor| row(variant, factor))
    };
    Table {
        name: name.to_owned(),
        title: format!("{}: {title}", results.what()),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "variant, factor",
        headings: results.threads.iter().map(u32::to_string).collect(),
        rows: variants.iter().flat_map(of_variant).collect(),
        below: Vec::new(),
    }
}

fn rate(point: Option<&Point>) -> String {
    let rate = point.map_or(f64::NAN, |point| point.throughput_mb_per_s);
    if rate >= 1e4 {
        // Without prefixes, which would differ within a column.
        number::count((rate / 10.0).round() as u64 * 10)
    } else {
        number::figure(rate)
    }
}

fn throughput(results: &Results<'_>) -> Table {
    let title = "MB per second by threads";
    let cell = |variant, factor, threads| rate(results.point(variant, factor, threads));
    let mut table = by_threads(results, results.variants, "rates", title, cell);
    table.mark = Some(results.mark());
    let grows = published(results).and_then(|claims| claims.stock_grows_to);
    if let (Some((few, many)), true) = (grows, results.variants.contains(&Variant::Stock)) {
        table
            .below
            .push(format!("published: stock grows up to {few} to {many} threads, then falls"));
    }
    table
}

fn lock_wait(results: &Results<'_>) -> Table {
    let title = "share of the time in additions that is waiting for locks";
    let cell = |variant, factor, threads| {
        let point = results.point(variant, factor, threads);
        number::percent(point.map_or(f64::NAN, |point| point.lock_wait_share))
    };
    let mut table = by_threads(results, results.variants, "waits", title, cell);
    if let Some(claims) = published(results) {
        table.below.push(format!(
            "published, all threads: stock {}; improved, factor {}, up to {}",
            claims.stock_lock_wait,
            claims.factor,
            number::percent(claims.finer_lock_wait_share)
        ));
    }
    table
}

/// Each variant's throughput over that of the stock kernel.
fn against_stock(results: &Results<'_>) -> Option<Table> {
    let compared = results.compared();
    if compared.is_empty() {
        return None;
    }
    let cell =
        |variant, factor, threads| number::multiple(results.over_stock(variant, factor, threads));
    let mut table = by_threads(results, &compared, "gains", "× stock", cell);
    if let Some(claims) = published(results) {
        table.below.push(gain_in_words(&claims));
    } else if results.pattern == Pattern::Read {
        table.below.push("published: reads are not hurt".to_owned());
    }
    Some(table)
}

fn gain_in_words(claims: &Claims) -> String {
    let ((few, many), (low, high)) = (claims.threads, claims.finer_over_stock);
    let threads = if few == many { few.to_string() } else { format!("{few} to {many}") };
    let gain = if low == high {
        format!("about {}", number::multiple(low))
    } else {
        format!("{} to {}", number::multiple(low), number::multiple(high))
    };
    format!("published, improved, factor {}: {gain} with {threads} threads", claims.factor)
}

/// What is published of the sequential writes.
fn published(results: &Results<'_>) -> Option<Claims> {
    claims(&results.machine.name)
        .filter(|_| results.pattern == Pattern::SeqWrite && results.folios.are_pages())
}

/// Throughput with the most threads.
fn by_factor(results: &Results<'_>) -> Table {
    let most = results.most_threads();
    let striped = || results.variants.iter().filter(|variant| variant.has_factor());
    let row = |&factor: &u32| {
        let cells = striped().map(|&variant| rate(results.point(variant, factor, most)));
        (factor.to_string(), cells.collect())
    };
    Table {
        name: "factors".to_owned(),
        title: format!("{}: MB per second by factor, {most} threads", results.what()),
        mark: Some(results.mark()),
        front: "factor",
        headings: striped().map(|variant| variant.name()).collect(),
        rows: results.factors.iter().map(row).collect(),
        below: published(results)
            .and_then(|claims| claims.first_version_peaks_at)
            .map(|factor| format!("published: the first version is fastest with factor {factor}"))
            .into_iter()
            .collect(),
    }
}
