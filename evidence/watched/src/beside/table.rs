//! The comparison as tables and sentences.

use kilocore_show::Table;

use crate::beside::compare::{Compared, ComparedSite, Comparison};
use crate::table::{count, ratios};
use kilocore_figures::median;

/// An interval whose end is so many times its beginning leaves the figure open.
const WIDE: f64 = 2.0;

/// Two tables, of locks and of forecasts, and what they miss, in Markdown.
#[must_use]
pub fn tables(comparisons: &[(&str, Comparison)]) -> String {
    let mut locks = titled(
        "program, and where it takes the lock",
        [
            "of the threads' time",
            "locks known",
            "acquisitions",
            "watched / preload",
            "preload / preload",
            "interval holds it",
            "hold",
            "watched / preload",
            "preload / preload",
            "interval holds it",
            "think",
            "watched / preload",
            "preload / preload",
        ],
    );
    let mut forecasts = titled(
        "program",
        [
            "bands overlap",
            "those of two preload runs",
            "watched curve in preload's band",
            "that of another preload run",
            "same advice",
            "that of two preload runs",
            "advice from preload",
            "advice from watching",
            "failed runs",
        ],
    );
    let mut misses = Vec::new();
    for (name, comparison) in comparisons {
        for site in &comparison.sites {
            locks.rows.push(row(name, site));
            misses.extend(miss(name, site, median(comparison.hit_costs.iter().map(|cost| cost.0))));
        }
        if comparison.sites.is_empty() {
            misses.push(format!("{name}: no lock costs a hundredth of its threads' time."));
        }
        let forecast = &comparison.forecasts;
        let said = |advice: &std::collections::BTreeMap<String, u64>| {
            let each: Vec<String> =
                advice.iter().map(|(what, times)| format!("{what} ({times})")).collect();
            each.join("; ")
        };
        let cells = vec![
            count(forecast.overlap),
            count(forecast.noise),
            count(forecast.inside),
            count(forecast.inside_noise),
            count(forecast.same_advice),
            count(forecast.same_noise),
            said(&forecast.preload),
            said(&forecast.watch),
            comparison.failed.to_string(),
        ];
        forecasts.rows.push(((*name).to_owned(), cells));
    }
    let misses: String = misses.iter().map(|miss| format!("* {miss}\n")).collect();
    format!("{}\n{}\n{misses}", locks.markdown(), forecasts.markdown())
}

fn titled<const COLUMNS: usize>(front: &'static str, headings: [&str; COLUMNS]) -> Table {
    Table { front, headings: headings.into(), ..Table::default() }
}

fn row(program: &str, site: &ComparedSite) -> (String, Vec<String>) {
    let mut row = vec![
        format!("{:.0} %", 100.0 * site.share),
        format!("{:.0} of {}", site.known, site.locks),
    ];
    for (compared, figure) in
        [(&site.acquisitions, large as fn(f64) -> String), (&site.hold, time), (&site.think, time)]
    {
        row.push(median(compared.preload.iter().copied()).map_or_else(|| "–".to_owned(), figure));
        row.push(ratios(&compared.ratios));
        row.push(ratios(&compared.noise));
        row.push(count(compared.inside));
    }
    // What threads compute between has no interval.
    row.pop();
    (format!("{program}: `{}`", site.name), row)
}

/// What is not within the share by which the recorders may differ, and what there is to say of it.
fn miss(program: &str, site: &ComparedSite, hit: Option<f64>) -> Option<String> {
    let figures =
        [(&site.acquisitions, "acquisitions"), (&site.hold, "hold"), (&site.think, "think")];
    let missed: Vec<&str> =
        figures.iter().filter(|(figure, _)| !figure.is_near()).map(|(_, name)| *name).collect();
    if missed.is_empty() {
        return None;
    }
    let where_ = format!("{program}, `{}`", site.name);
    if site.known == 0.0 {
        let waited = if site.seen.so == 0 {
            "In no run did a thread wait for it in a window, so it was not seen".to_owned()
        } else {
            format!(
                "Waits for it were seen in {} of {} runs, too few to watch its word",
                site.seen.so, site.seen.of
            )
        };
        return Some(format!("{where_}: {waited}."));
    }
    let mut words = format!("{where_}: missed {}.", missed.join(", "));
    if site.known < site.locks as f64 {
        words += &format!(
            " Of {} locks there, watching knows how often {:.0} are taken; hardly anybody waited for \
             the others in a window.",
            site.locks, site.known
        );
    }
    let hold = median(site.hold.preload.iter().copied());
    if let (Some(hold), Some(hit)) = (hold, hit)
        && hold < hit
    {
        words += &format!(
            " It is held for {}; a hit costs {}, which is not known to that precision.",
            time(hold),
            time(hit)
        );
    }
    let open = |compared: &Compared| {
        median(compared.width.iter().copied()).is_some_and(|width| width > WIDE)
    };
    if open(&site.acquisitions) || open(&site.hold) {
        words += " The interval says that the figure is open.";
    }
    let noise = figures.iter().flat_map(|(figure, _)| &figure.noise);
    let farthest = noise.map(|ratio| (ratio - 1.0).abs()).fold(0.0, f64::max);
    if farthest > Compared::MAY_DIFFER {
        words += " Runs under the preload recorder differ by more than 15 % as well.";
    }
    Some(words)
}

fn large(count: f64) -> String {
    match count {
        count if count >= 1e6 => format!("{:.2} M", count / 1e6),
        count if count >= 1e4 => format!("{:.1} k", count / 1e3),
        count => format!("{count:.0}"),
    }
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{ns:.0} ns"),
    }
}
