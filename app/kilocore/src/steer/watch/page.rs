//! What the live view shows: a pure function from what is known to a frame.

use std::collections::{BTreeMap, VecDeque};

use kilocore_command_line::screen::shown;
use kilocore_sched_daemon::{GroupView, Other, Snapshot};
use kilocore_sched_policy::{GroupState, LockLabel};
use ratatui::Frame;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::steer::summary::{judged, words};

/// After fewer windows than this nobody knows what a thread waits for.
const FEW_WINDOWS: u64 = 10;

/// Of so many windows each group's waiting is remembered.
const REMEMBERED: usize = 40;

/// All that is shown.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// What is steered: a command, or processes.
    pub(super) subject: String,
    /// The policy that decides.
    pub(super) policy: String,
    /// Whether nothing is ordered.
    pub(super) dry_run: bool,
    /// What the key `q` does.
    pub(super) q: &'static str,
    /// What was seen last.
    pub(super) snapshot: Option<Snapshot>,
    /// Of each group by its locks, the share that it waited in each window, in per cent.
    pub(super) waited: BTreeMap<Vec<LockLabel>, VecDeque<u32>>,
}

impl Page {
    /// A window is over.
    pub(super) fn take(&mut self, snapshot: Snapshot) {
        let groups = &snapshot.groups;
        self.waited.retain(|locks, _| groups.iter().any(|group| group.status.locks == *locks));
        for group in groups {
            let waited = self.waited.entry(group.status.locks.clone()).or_default();
            waited.push_back(group.status.waiting.as_millionths() / 10_000);
            if waited.len() > REMEMBERED {
                waited.pop_front();
            }
        }
        self.snapshot = Some(snapshot);
    }

    /// Draws it. What there is no room for is cut off at the end.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let mut lines = vec![self.heading()];
        if let Some(snapshot) = &self.snapshot {
            lines.extend(self.body(snapshot));
        } else {
            lines.push(text("the first window is not over yet"));
        }
        let [page, foot] = ratatui::layout::Layout::vertical([
            ratatui::layout::Constraint::Min(0),
            ratatui::layout::Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), page);
        let foot_line = text(&format!("q: {}", self.q)).style(Modifier::REVERSED);
        frame.render_widget(Paragraph::new(foot_line), foot);
    }

    fn heading(&self) -> Line<'static> {
        let dry = if self.dry_run { " (dry run: nothing is ordered)" } else { "" };
        text(&format!("kilocore steer: {} by policy {}{dry}", self.subject, self.policy))
            .style(Modifier::BOLD)
    }

    fn body(&self, snapshot: &Snapshot) -> Vec<Line<'static>> {
        let given = if self.dry_run { "that would have been given" } else { "given" };
        let mut lines = vec![
            text(&format!(
                "{} threads; {} windows; {} orders {given}, by {}",
                snapshot.threads, snapshot.windows, snapshot.orders, snapshot.control
            )),
            text(&format!("watched: {}", snapshot.sources.join("; "))),
        ];
        if !snapshot.unseen.is_empty() {
            let unseen = text(&format!("not seen: {}", snapshot.unseen.join("; ")));
            lines.push(unseen.style(Color::DarkGray));
        }
        lines.push(Line::default());
        if let Some(caches) = snapshot.caches {
            lines.insert(1, text(&words(caches)));
        }
        if snapshot.groups.is_empty() {
            lines.push(text("no group of tasks is confined"));
        }
        for group in &snapshot.groups {
            lines.extend(self.group(group));
        }
        lines.push(Line::default());
        lines.extend(snapshot.others.iter().map(|(other, count)| {
            text(&format!("{}: {count}", treated(*other, snapshot.windows)))
        }));
        lines
    }

    fn group(&self, group: &GroupView) -> [Line<'static>; 3] {
        let status = &group.status;
        let more = match group.unnamed {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (state, colour) = match status.state {
            GroupState::Free => ("free", Color::Gray),
            GroupState::Searching => ("searching", Color::Yellow),
            GroupState::Holding => ("holding", Color::Green),
            GroupState::Probing => ("probing", Color::Cyan),
        };
        let verb = if self.dry_run { "would be on" } else { "on" };
        let waited = self.waited.get(&status.locks);
        [
            Line::from(vec![
                Span::styled(state, Style::new().fg(colour).add_modifier(Modifier::BOLD)),
                Span::raw(printable(&format!(
                    ": {} tasks {verb} cores {}: {}; locks: {}{more}",
                    status.tasks.len(),
                    status.cpus,
                    group.programs.join(", "),
                    group.locks.join(", "),
                ))),
            ]),
            text(&format!(
                "  waiting {:>3} % {}",
                status.waiting.as_millionths() / 10_000,
                waited.map(sparkline).unwrap_or_default()
            )),
            text(&format!("  {}", reason(group))),
        ]
    }
}

/// Why a group is where it is.
fn reason(group: &GroupView) -> String {
    let status = &group.status;
    let cores =
        |count: u32| if count == 1 { "1 core".to_owned() } else { format!("{count} cores") };
    match status.state {
        GroupState::Free => "it waits too little for locks to be confined".to_owned(),
        GroupState::Searching => format!(
            "it waits much for its locks, so numbers of cores are tried for that with which it gets \
             most done; {} windows so far",
            status.windows
        ),
        GroupState::Holding => {
            let found = status
                .found
                .map_or(String::new(), |windows| format!(", as was found after {windows} windows"));
            let by = status.judged.map_or(String::new(), judged);
            format!("it gets most done on {}{found}{by}", cores(status.best))
        }
        GroupState::Probing => format!(
            "it got most done on {}; a neighbouring number is tried, whether that is better by now",
            cores(status.best)
        ),
    }
}

/// How threads are treated after so many windows, and why.
fn treated(other: Other, windows: u64) -> &'static str {
    match other {
        Other::Ordered => "threads with an order of their own",
        Other::Refused => "threads left alone, as the system refused an order for them",
        Other::OneCore => "threads left alone, as their owner allows them one core only",
        Other::NotAsked if windows < FEW_WINDOWS => {
            "threads left alone so far, as too little was seen of them"
        }
        Other::NotAsked => "threads left alone, as they wait little or moving them gains nothing",
    }
}

/// A bar for each share, from nothing to everything.
fn sparkline(waited: &VecDeque<u32>) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    waited.iter().map(|percent| BARS[(percent * 8 / 100).min(7) as usize]).collect()
}

fn text(text: &str) -> Line<'static> {
    Line::raw(printable(text))
}

/// Names of programs may hold what steers a terminal.
fn printable(text: &str) -> String {
    let safe: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    shown(&safe).into_owned()
}

#[cfg(test)]
mod tests {
    use kilocore_sched_daemon::CacheUse;
    use kilocore_sched_policy::{CpuId, CpuSet, GroupStatus, Progress, Share, TaskId};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn group(state: GroupState, waiting: u32) -> GroupView {
        let mut cpus = CpuSet::first(4);
        cpus.insert(CpuId(8));
        GroupView {
            status: GroupStatus {
                locks: vec![LockLabel(0)],
                tasks: (0..16).map(TaskId).collect(),
                cpus,
                best: 5,
                judged: Some(Progress::Acquisitions),
                waiting: Share::percent(waiting),
                state,
                windows: 31,
                found: Some(12),
                changes: 7,
            },
            programs: vec!["ser\u{1b}vice (12)".to_owned()],
            locks: vec!["0x7f10".to_owned()],
            unnamed: 2,
        }
    }

    fn page(groups: Vec<GroupView>) -> Page {
        let mut page = Page {
            subject: "./service".to_owned(),
            policy: "lock-aware".to_owned(),
            q: "closes this view",
            ..Page::default()
        };
        page.take(Snapshot {
            windows: 40,
            threads: 20,
            orders: 160,
            caches: Some(CacheUse { occupied: 3 << 20, transferred: 5 << 20 }),
            control: "affinity".to_owned(),
            sources: vec!["times".to_owned()],
            unseen: vec!["counters".to_owned(), "spinning".to_owned()],
            groups,
            others: BTreeMap::from([(Other::Refused, 1), (Other::NotAsked, 3)]),
        });
        page
    }

    fn drawn(page: &Page, columns: u16, rows: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("memory");
        terminal.draw(|frame| page.draw(frame)).expect("memory");
        let buffer = terminal.backend().buffer();
        let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..rows).map(|y| row(y).trim_end().to_owned()).collect()
    }

    #[test]
    fn a_confined_group_is_shown_with_its_cores_its_waiting_and_the_reason() {
        let mut page = page(vec![group(GroupState::Searching, 0)]);
        for waiting in [50, 99] {
            let mut snapshot = page.snapshot.clone().expect("it was taken");
            snapshot.groups = vec![group(GroupState::Holding, waiting)];
            page.take(snapshot);
        }
        let bars = shown("▁▅█").into_owned();
        assert_eq!(
            drawn(&page, 100, 14),
            [
                "kilocore steer: ./service by policy lock-aware",
                "20 threads; 40 windows; 160 orders given, by affinity",
                "3072 KiB in last-level caches; 5 MiB transferred from and to memory",
                "watched: times",
                "not seen: counters; spinning",
                "",
                "holding: 16 tasks on cores 0-3,8: ser?vice (12); locks: 0x7f10 and 2 more",
                &format!("  waiting  99 % {bars}"),
                "  it gets most done on 5 cores, as was found after 12 windows, judged by acquisitions",
                "",
                "threads left alone, as the system refused an order for them: 1",
                "threads left alone, as they wait little or moving them gains nothing: 3",
                "",
                "q: closes this view",
            ]
        );
    }

    #[test]
    fn every_state_has_its_word_and_its_reason() {
        for (state, word, why) in [
            (GroupState::Free, "free: 16 tasks", "waits too little"),
            (GroupState::Searching, "searching: 16 tasks", "numbers of cores are tried"),
            (GroupState::Holding, "holding: 16 tasks", "gets most done on 5 cores"),
            (GroupState::Probing, "probing: 16 tasks", "a neighbouring number is tried"),
        ] {
            let text = drawn(&page(vec![group(state, 30)]), 120, 16).join("\n");
            assert!(text.contains(word) && text.contains(why), "{text}");
        }
    }

    #[test]
    fn a_dry_run_does_not_say_that_anything_was_done() {
        let page = Page { dry_run: true, ..page(vec![group(GroupState::Holding, 30)]) };
        let text = drawn(&page, 100, 16).join("\n");
        for part in ["dry run", "would be on cores", "orders that would have been given"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("tasks on cores"), "{text}");
    }

    #[test]
    fn after_a_few_windows_nobody_is_said_to_wait_little() {
        let mut page = page(Vec::new());
        let said = |page: &Page| drawn(page, 100, 16).join("\n");
        assert!(said(&page).contains("as they wait little or moving them gains nothing: 3"));
        let snapshot = page.snapshot.clone().expect("it was taken");
        page.take(Snapshot { windows: 2, unseen: Vec::new(), ..snapshot });
        let said = said(&page);
        assert!(said.contains("left alone so far, as too little was seen of them: 3"), "{said}");
        assert!(!said.contains("wait little") && !said.contains("not seen:"), "{said}");
    }

    #[test]
    fn it_fits_any_screen_and_says_what_q_does_as_long_as_there_is_a_row() {
        let page = page((0..50).map(|_| group(GroupState::Holding, 30)).collect());
        for (columns, rows) in [(1, 1), (20, 3), (80, 24), (300, 100)] {
            let last = drawn(&page, columns, rows).pop().expect("a row");
            assert!("q: closes this view".starts_with(&last) && !last.is_empty(), "{last}");
        }
    }

    #[test]
    fn a_group_that_is_gone_leaves_no_history() {
        let mut page = page(vec![group(GroupState::Holding, 30)]);
        let snapshot = page.snapshot.clone().expect("it was taken");
        page.take(Snapshot { groups: Vec::new(), ..snapshot });
        assert!(page.waited.is_empty());
        assert!(drawn(&page, 100, 12).contains(&"no group of tasks is confined".to_owned()));
    }
}
