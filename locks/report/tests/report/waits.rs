//! Where the threads' time went, on the terminal and as a page.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Activities, Finding, KernelLockKind, KernelLockWaits, Profile, RoleTimes, ThreadTimes,
    WaitEdge, WaitedFor, WaitedWord,
};
use kilocore_lock_report::{terminal, waits_page};
use kilocore_show::ReportError;
use kilocore_show::terminal::{NARROWEST, Style};
use scraper::{Html, Selector};

use crate::sample::{HOSTILE, Sample};
use crate::threads;

fn profile(times: ThreadTimes) -> Profile {
    let mut profile = Sample::new().profile;
    profile.runs[0].times = Some(times);
    profile
}

fn page(times: ThreadTimes) -> Html {
    let text = waits_page(&profile(times), None).expect("there are times");
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty(), "the parser objects: {:?}", page.errors);
    page
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).map(|element| element.text().collect::<String>()).collect()
}

#[test]
fn the_table_opens_with_the_findings_and_then_says_how_much_is_known() {
    let times = threads::times("worker");
    let text = terminal::times_table(&times, 100);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Where the threads' time went"));
    assert!(lines.next().is_some_and(|line| line.starts_with("- ")), "{text}");
    let [found, known, shares] = ["- ", "The threads were watched for", "Shares of the threads'"]
        .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
    assert!(found < known && known < shares, "{text}");
    for finding in &times.findings {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let sentence = finding.to_string();
        let sentence: Vec<&str> = sentence.split_whitespace().collect();
        assert!(words.windows(sentence.len()).any(|part| part == sentence), "{finding}: {text}");
    }
}

#[test]
fn a_role_has_a_row_and_an_activity_that_nobody_had_has_no_column() {
    let times = threads::times("worker");
    let text = terminal::times_table(&times, 140);
    let table = text.split("Shares of").nth(1).and_then(|text| text.split("\n\n").next());
    let table = table.expect("there is a table");
    let heading = table.lines().find(|line| line.starts_with("role")).expect("there are headings");
    for absent in ["barriers", "futexes", "pages"] {
        assert!(!heading.contains(absent), "{heading}");
    }
    for present in ["threads", "user", "kernel", "no core", "locks", "work", "I/O", "waited for"] {
        assert!(heading.contains(present), "{present}: {heading}");
    }
    let rows: Vec<&str> = table.lines().collect();
    let row = |name: &str| *rows.iter().find(|row| row.starts_with(name)).expect(name);
    let locks = times.roles.iter().find(|role| role.name == "worker").expect("workers").times;
    let locks = locks.locks.share_of(locks.present());
    assert!(row("worker").contains(&kilocore_show::number::percent(locks)), "{table}");
    assert!(row("kvstore (main thread)").contains("100 %"), "{table}");
}

#[test]
fn the_table_keeps_to_its_width_and_to_ascii() {
    let times = threads::times(&format!("{HOSTILE}{}", "a-very-long-name".repeat(5)));
    for width in [0, 60, 80, 100, 200] {
        let text = terminal::times_table(&times, width);
        let most = usize::from(width.max(NARROWEST));
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= most), "{width}\n{text}");
        assert!(!text.contains('\u{1b}'));
    }
    let style = Style { unicode: false, ..Style::of_width(80) };
    assert!(terminal::times_table(&threads::times("worker"), style).is_ascii());
}

#[test]
fn the_page_shows_findings_graph_ranking_and_tables() {
    let times = threads::times("worker");
    let page = page(times.clone());
    let findings: Vec<String> = times.findings.iter().map(ToString::to_string).collect();
    let said = texts(&page, ".finding");
    assert_eq!(said[..findings.len()], findings);
    let most = "Waited for most, directly or through others: worker, by ";
    assert!(said.len() == findings.len() + 1 && said[findings.len()].starts_with(most), "{said:?}");
    assert!(said[findings.len()].contains("it computes for "), "{said:?}");
    assert_eq!(texts(&page, "table.roles tbody tr").len(), times.roles.len());
    assert_eq!(texts(&page, "table.edges tbody tr").len(), times.edges.len());
    assert_eq!(texts(&page, "table.words tbody tr").len(), times.words.len());
    let ranked = texts(&page, "table.ranking tbody th");
    assert_eq!(ranked.len(), times.ranking.len());
    assert_eq!(texts(&page, ".waits .worst .who"), [ranked[0].clone()]);
    let arrows = texts(&page, ".waits .arrow title");
    assert!(
        arrows.iter().any(|title| title.starts_with("worker waits for worker: ")),
        "{arrows:?}"
    );
    assert!(arrows.iter().any(|title| title.starts_with("worker waits for flusher: ")));
    assert!(arrows[0].contains("at Store::put (store.cc:97): "), "{arrows:?}");
}

#[test]
fn a_bar_tells_spinning_from_computing() {
    let mut times = threads::times("worker");
    let widths = |times: &ThreadTimes, part: &str| -> Vec<f64> {
        let selector = Selector::parse(&format!(".share .{part}")).expect("a selector");
        let width = |style: &str| style.strip_prefix("width:")?.strip_suffix('%')?.parse().ok();
        let page = page(times.clone());
        page.select(&selector).filter_map(|one| one.attr("style").and_then(width)).collect()
    };
    let computing = widths(&times, "computing");
    assert!(!computing.is_empty() && widths(&times, "spinning").is_empty(), "{computing:?}");
    for role in &mut times.roles {
        let done = &mut role.times;
        (done.spinning, done.user) = (done.user, Nanoseconds(0));
    }
    let (left, spun) = (widths(&times, "computing"), widths(&times, "spinning"));
    let sum = |widths: &[f64]| widths.iter().sum::<f64>();
    assert!(sum(&spun) > 0.0 && sum(&left) < sum(&computing), "{left:?} {spun:?}");
    assert!((sum(&left) + sum(&spun) - sum(&computing)).abs() < 0.1, "{left:?} {spun:?}");
}

#[test]
fn the_kernels_locks_are_listed_where_they_were_seen() {
    let unseen = threads::times("worker");
    let said = |times: &ThreadTimes| {
        let text = terminal::times_table(times, 100);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(said(&unseen).contains("did not show waits for its own locks"));
    assert_eq!(texts(&page(unseen.clone()), "table.kernel-locks").len(), 0);
    let mut times = unseen;
    times.coverage.kernel_locks_seen = true;
    times.kernel_locks = vec![KernelLockWaits {
        kind: KernelLockKind::Writing,
        name: "mmap_lock".to_owned(),
        functions: vec!["__vm_munmap".to_owned(), "__x64_sys_munmap".to_owned()],
        waited: Nanoseconds(3_000_000),
        count: 1_000,
        threads: 6,
    }];
    assert!(!said(&times).contains("did not show waits"));
    let text = terminal::times_table(&times, 100);
    let row = text.lines().find(|line| line.starts_with("mmap_lock (writing), ")).expect("a row");
    assert!(row.contains("__vm_munmap for sys_munmap") && row.contains("3.00 µs"), "{row}");
    let rows = texts(&page(times), "table.kernel-locks tbody tr");
    assert!(rows.len() == 1 && rows[0].starts_with("mmap_lock (writing), acquired in"), "{rows:?}");
}

#[test]
fn arrows_are_as_thick_as_waits_are_long() {
    let times = threads::times("worker");
    let mut pairs: BTreeMap<(u32, WaitedFor), Nanoseconds> = BTreeMap::new();
    for edge in &times.edges {
        *pairs.entry((edge.from, edge.to)).or_default() += edge.in_all;
    }
    let mut waits: Vec<Nanoseconds> = pairs.into_values().collect();
    waits.sort_unstable_by(|a, b| b.cmp(a));
    let page = page(times);
    let lines = Selector::parse(".waits .arrow .line").expect("a selector");
    let thick: Vec<f64> = page
        .select(&lines)
        .map(|line| line.attr("stroke-width").and_then(|w| w.parse().ok()).expect("a number"))
        .collect();
    assert!(thick.len() >= 3 && thick.len() == waits.len(), "{thick:?}");
    for (thick, wait) in thick.iter().zip(&waits) {
        let share = wait.share_of(waits[0]);
        assert!((thick - (1.2 + 10.0 * share)).abs() < 0.06, "{thick} for {share}");
    }
}

#[test]
fn the_page_of_waits_asks_for_nothing_from_elsewhere_and_foreign_text_stays_text() {
    let mut times = threads::times(HOSTILE);
    for word in &mut times.words {
        word.name = HOSTILE.to_owned();
    }
    let text = waits_page(&profile(times), None).expect("there are times");
    for reference in ["http:", "https:", "src=", "href=", "@import", "url(", "<link"] {
        assert!(!text.contains(reference), "{reference}");
    }
    assert!(!text.contains('\u{1b}'));
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert_eq!(texts(&page, "script").len(), 1, "only the page's own script");
}

#[test]
fn the_page_begins_with_a_verdict_that_has_no_curves() {
    let sample = Sample::new();
    let advice = &sample.forecast.recommendation;
    let text =
        waits_page(&profile(threads::times("worker")), Some(advice)).expect("there are times");
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty(), "the parser objects: {:?}", page.errors);
    assert_eq!(texts(&page, ".advice h2"), vec![advice.headline.as_str()]);
    assert_eq!(texts(&page, ".advice li"), advice.text);
    assert_eq!(texts(&page, "table.roles").len(), 1);
}

#[test]
fn a_profile_without_times_has_no_page() {
    assert!(matches!(waits_page(&Sample::new().profile, None), Err(ReportError::Missing(_))));
    let nothing = ThreadTimes::default();
    assert!(terminal::times_table(&nothing, 80).contains("too short a time to say what they do"));
    let watched = ThreadTimes { observed: Nanoseconds(1_000_000_000), ..ThreadTimes::default() };
    assert!(terminal::times_table(&watched, 80).contains("no pattern that has a name"));
    let page = page(nothing);
    assert_eq!(texts(&page, "svg.waits").len(), 0);
}

#[test]
fn a_document_that_refers_to_what_is_not_there_is_shown_all_the_same() {
    const LONGEST: Nanoseconds = Nanoseconds(u64::MAX);
    let times = ThreadTimes {
        roles: vec![RoleTimes {
            times: Activities { user: LONGEST, locks: LONGEST, ..Activities::default() },
            ..RoleTimes::default()
        }],
        words: vec![WaitedWord { id: 77, waited: LONGEST, ..WaitedWord::default() }],
        edges: vec![
            WaitEdge {
                from: 9,
                to: WaitedFor::Role(8),
                word: 7,
                direct: LONGEST,
                in_all: LONGEST,
            };
            2
        ],
        ranking: vec![kilocore_lock_profile::Bottleneck {
            role: 5,
            waited_for: Nanoseconds(1),
            score: f64::NAN,
            ..kilocore_lock_profile::Bottleneck::default()
        }],
        findings: vec![Finding::NoContention { wait: f64::NAN, known: f64::INFINITY }],
        ..ThreadTimes::default()
    };
    assert!(terminal::times_table(&times, 80).contains("role 9"));
    let page = page(times);
    assert!(texts(&page, "table.edges td").contains(&"role 8".to_owned()));
    let drawn = Selector::parse("svg.waits *").expect("a selector");
    for attribute in page.select(&drawn).flat_map(|element| element.value().attrs()) {
        assert!(!attribute.1.contains("NaN") && !attribute.1.contains("inf"), "{attribute:?}");
    }
}

#[test]
fn a_crowd_of_roles_is_summed_up() {
    let mut times = threads::times("worker");
    let first = times.roles.len() as u32;
    for id in 0..40 {
        let id = first + id;
        times.roles.push(RoleTimes { id, name: format!("r{id}"), ..RoleTimes::default() });
        let to = WaitedFor::Role(id);
        times.edges.push(WaitEdge {
            from: id,
            to,
            word: 0,
            direct: Nanoseconds(1),
            in_all: Nanoseconds(1_000_000),
        });
    }
    let text = terminal::times_table(&times, 100);
    assert!(text.contains("more roles") && text.lines().count() < 90, "{text}");
    let page = page(times);
    assert_eq!(texts(&page, ".waits .who").len(), 12);
    assert!(texts(&page, ".caption").iter().any(|text| text.contains("are not drawn")));
}
