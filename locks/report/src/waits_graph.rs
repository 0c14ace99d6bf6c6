//! The graph of who waited for whom, as a picture.
//!
//! Roles stand in a ring, the one that others wait for most at its top. A role's circle has an area
//! by how many cores it keeps busy, and an edge a thickness by how long was waited along it, in all.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use askama::Template;
use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{ThreadTimes, WaitEdge, WaitedFor};
use kilocore_show::number;
use kilocore_show::text::shortened;

use crate::waits_words::{duration, party, role_by_id, roles_in_order, word};

const WIDTH: f64 = 960.0;
/// Roles beyond these, for which and by which least is waited, are not drawn.
const MOST_NODES: usize = 12;
/// Edges thinner than this share of the thickest are not drawn.
const THINNEST: f64 = 0.002;
/// So many edges have their time beside them.
const LABELLED: usize = 8;
/// Words that the title of an edge names.
const MOST_WORDS: usize = 5;
/// The radius of a role that does not compute, and what the busiest has more.
const RADIUS: (f64, f64) = (11.0, 29.0);
/// The thickness of the thinnest edge, and what the thickest has more.
const THICKNESS: (f64, f64) = (1.2, 10.0);
const NAME_WIDTH: usize = 24;

#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

impl Point {
    /// The point at a distance from this one, at an angle.
    fn towards(self, angle: f64, distance: f64) -> Self {
        Self { x: self.x + distance * angle.cos(), y: self.y + distance * angle.sin() }
    }

    /// The angle at which another point is seen.
    fn angle_to(self, other: Self) -> f64 {
        (other.y - self.y).atan2(other.x - self.x)
    }
}

#[derive(Debug)]
struct Node {
    party: WaitedFor,
    at: Point,
    /// Away from the middle of the ring.
    outwards: f64,
    radius: f64,
    class: &'static str,
    name: String,
    note: String,
    title: String,
}

#[derive(Debug)]
struct Arrow {
    line: String,
    head: String,
    thickness: f64,
    label: String,
    label_at: Point,
    title: String,
}

/// The picture, ready to be put into a page.
#[derive(Debug, Template)]
#[template(path = "waits.svg")]
pub(crate) struct WaitsGraph {
    width: f64,
    height: f64,
    about: String,
    nodes: Vec<Node>,
    arrows: Vec<Arrow>,
    /// How many roles have no room.
    pub(crate) left_out: usize,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for WaitsGraph {}

/// All waits of one role for one party.
#[derive(Debug, Default)]
struct Pair<'a> {
    in_all: Nanoseconds,
    edges: Vec<&'a WaitEdge>,
}

impl WaitsGraph {
    /// The picture of what `times` says; none if nobody waited.
    pub(crate) fn new(times: &ThreadTimes) -> Option<Self> {
        let mut pairs: BTreeMap<(u32, WaitedFor), Pair<'_>> = BTreeMap::new();
        for edge in &times.edges {
            let pair = pairs.entry((edge.from, edge.to)).or_default();
            pair.in_all = pair.in_all.saturating_add(edge.in_all);
            pair.edges.push(edge);
        }
        let longest = pairs
            .values()
            .map(|pair| pair.in_all)
            .max()
            .filter(|&waited| waited > Nanoseconds(0))?;
        let (shown, left_out) = shown(times, &pairs);
        let height = if shown.len() <= 2 { 340.0 } else { 400.0 + 22.0 * shown.len() as f64 };
        let nodes = nodes(times, &shown, height);
        let mut order: Vec<_> = pairs.iter().collect();
        order.sort_by_key(|(key, pair)| (std::cmp::Reverse(pair.in_all), **key));
        let mut arrows = Vec::new();
        for (&(from, to), pair) in order {
            let place = |party| nodes.iter().find(|node: &&Node| node.party == party);
            let weight = pair.in_all.share_of(longest);
            let ends = (place(WaitedFor::Role(from)), place(to));
            if let ((Some(from), Some(to)), true) = (ends, weight >= THINNEST) {
                let label = (arrows.len() < LABELLED).then(|| duration(pair.in_all));
                let label = label.unwrap_or_default();
                let title = title(times, pair);
                let thickness = THICKNESS.0 + THICKNESS.1 * weight;
                arrows.push(Arrow { label, title, ..arrow(from, to, thickness) });
            }
        }
        let about = arrows.iter().take(3).filter_map(|arrow| arrow.title.lines().next());
        let about = about.collect::<Vec<_>>().join("; ");
        Some(Self { width: WIDTH, height, about, nodes, arrows, left_out })
    }
}

/// The parties that are drawn, in the order around the ring, and how many are not.
fn shown(
    times: &ThreadTimes,
    pairs: &BTreeMap<(u32, WaitedFor), Pair<'_>>,
) -> (Vec<WaitedFor>, usize) {
    let mut waits: BTreeMap<WaitedFor, Nanoseconds> = BTreeMap::new();
    for (&(from, to), pair) in pairs {
        for party in [WaitedFor::Role(from), to] {
            let sum = waits.entry(party).or_default();
            *sum = sum.saturating_add(pair.in_all);
        }
    }
    let mut most: Vec<(WaitedFor, Nanoseconds)> = waits.into_iter().collect();
    most.sort_by_key(|&(party, waited)| (std::cmp::Reverse(waited), party));
    let left_out = most.len().saturating_sub(MOST_NODES);
    most.truncate(MOST_NODES);
    let is_shown = |party: &WaitedFor| most.iter().any(|(other, _)| other == party);
    let roles = roles_in_order(times).into_iter().map(|role| WaitedFor::Role(role.id));
    let ring = roles.chain([WaitedFor::Outside, WaitedFor::Unknown]).filter(is_shown).collect();
    (ring, left_out)
}

fn nodes(times: &ThreadTimes, shown: &[WaitedFor], height: f64) -> Vec<Node> {
    let middle = Point { x: WIDTH / 2.0, y: height / 2.0 - 6.0 };
    let (across, up) = (WIDTH / 2.0 - 160.0, height / 2.0 - 118.0);
    let first = if shown.len() == 2 { PI } else { -PI / 2.0 };
    let busiest = times.roles.iter().map(|role| role.times.computing()).max().unwrap_or_default();
    let worst = times.ranking.first().map(|one| WaitedFor::Role(one.role));
    let node = |(place, &party): (usize, &WaitedFor)| {
        let angle = first + TAU * place as f64 / shown.len() as f64;
        let at = match shown.len() {
            1 => middle,
            _ => Point { x: middle.x + across * angle.cos(), y: middle.y + up * angle.sin() },
        };
        let outwards = if shown.len() == 1 { -PI / 2.0 } else { middle.angle_to(at) };
        let (weight, note) = about_node(times, party, busiest);
        let whole = crate::waits_words::party(times, party);
        Node {
            party,
            at,
            outwards,
            radius: RADIUS.0 + RADIUS.1 * weight.sqrt(),
            class: match party {
                WaitedFor::Role(_) if Some(party) == worst => "worst",
                WaitedFor::Role(_) => "role",
                WaitedFor::Outside | WaitedFor::Unknown => "nobody",
            },
            name: shortened(&whole, NAME_WIDTH),
            title: if note.is_empty() { whole } else { format!("{whole}\n{note}") },
            note,
        }
    };
    shown.iter().enumerate().map(node).collect()
}

/// How much a party computes beside the busiest one, from 0 to 1, and a note on it.
fn about_node(times: &ThreadTimes, party: WaitedFor, busiest: Nanoseconds) -> (f64, String) {
    let WaitedFor::Role(id) = party else { return (0.0, String::new()) };
    let Some(role) = times.roles.get(id as usize) else { return (0.0, String::new()) };
    let computing = role.times.computing();
    let threads = if role.threads == 1 { "thread" } else { "threads" };
    let cores = computing.share_of(times.observed);
    let note = format!("{} {threads}, {cores:.2} cores busy", number::count(role.threads));
    (computing.share_of(busiest), note)
}

fn title(times: &ThreadTimes, pair: &Pair<'_>) -> String {
    let Some(first) = pair.edges.first() else { return String::new() };
    let mut text = format!(
        "{} waits for {}: {} in all",
        role_by_id(times, first.from),
        match first.to {
            WaitedFor::Unknown => "somebody unknown".to_owned(),
            to => party(times, to),
        },
        duration(pair.in_all)
    );
    for edge in pair.edges.iter().take(MOST_WORDS) {
        text += &format!(
            "\nat {}: {} directly, {} in all",
            word(times, edge.word),
            duration(edge.direct),
            duration(edge.in_all)
        );
    }
    let more = pair.edges.len().saturating_sub(MOST_WORDS);
    if more > 0 { text + &format!("\nand at {more} more") } else { text }
}

/// The line from one node to another, or back to itself, with its head.
fn arrow(from: &Node, to: &Node, thickness: f64) -> Arrow {
    let head = 7.0 + 1.4 * thickness;
    let (line, tip, angle, label_at) = if from.party == to.party {
        let far = from.radius + 46.0 + 2.0 * thickness;
        let [start, end] =
            [-0.6, 0.6].map(|turn| from.at.towards(from.outwards + turn, from.radius + 1.0));
        let [first, second] = [-0.7, 0.7].map(|turn| from.at.towards(from.outwards + turn, far));
        let angle = second.angle_to(end);
        let base = end.towards(angle, -head);
        let line = format!(
            "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            start.x, start.y, first.x, first.y, second.x, second.y, base.x, base.y
        );
        (
            line,
            end,
            angle,
            from.at.towards(from.outwards, from.radius / 4.0 + far * 0.57 + thickness / 2.0 + 9.0),
        )
    } else {
        // To the right of the straight line, so that the way back is on the other side.
        let straight = from.at.angle_to(to.at);
        let distance = (to.at.x - from.at.x).hypot(to.at.y - from.at.y);
        let half = from.at.towards(straight, distance / 2.0);
        let bend = half.towards(straight + PI / 2.0, distance * 0.16);
        let start = from.at.towards(from.at.angle_to(bend), from.radius + 1.0);
        let angle = bend.angle_to(to.at);
        let end = to.at.towards(angle, -(to.radius + 2.0));
        let base = end.towards(angle, -head);
        let line = format!(
            "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            start.x, start.y, bend.x, bend.y, base.x, base.y
        );
        (line, end, angle, half.towards(straight + PI / 2.0, distance * 0.08))
    };
    let wide = 3.5 + thickness * 0.85;
    let base = tip.towards(angle, -head);
    let [left, right] = [-PI / 2.0, PI / 2.0].map(|turn| base.towards(angle + turn, wide));
    let head = format!(
        "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z",
        tip.x, tip.y, left.x, left.y, right.x, right.y
    );
    let (label, title) = (String::new(), String::new());
    Arrow { line, head, thickness, label, label_at, title }
}
