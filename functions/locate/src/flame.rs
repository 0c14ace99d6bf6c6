//! A differential flame graph: contexts as boxes below their callers, coloured by what they lose.
//!
//! The width of a box is what its context and all below it take per unit of work on one of the
//! sides; the other side has a graph of its own, as what has vanished has no width here. The
//! colour is the inclusive loss, so that the eye follows it down from the outermost function to
//! where it begins: orange takes more than before, blue takes less, and grey is within noise.

use crate::{Comparison, Node, NodeIndex, Side};
use askama::Template;
use kilocore_show::number;
use kilocore_show::text::{printable, shortened};

use crate::words::{per_unit, signed, threads_are};

/// Width of the drawing.
const WIDTH: f64 = 1200.0;
/// Height of a box, with the gap below it.
const ROW: f64 = 18.0;
/// Boxes narrower than this are left out, with all below them.
const NARROWEST: f64 = 1.0;
/// Width of a letter.
const LETTER: f64 = 6.7;
/// Colour components of no difference, of the greatest loss and of the greatest gain.
const NEUTRAL: [f64; 3] = [226.0, 226.0, 222.0];
const LOSS: [f64; 3] = [226.0, 84.0, 14.0];
const GAIN: [f64; 3] = [66.0, 140.0, 212.0];

/// A context as a box.
#[derive(Debug)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
    colour: String,
    /// The function's name, and as much of it as there is room for.
    name: String,
    label: String,
    /// What is said on hovering.
    title: String,
}

/// The graph of a side, ready to be put into a page or a file.
#[derive(Debug, Template)]
#[template(path = "flame.svg")]
pub(crate) struct Flame {
    width: f64,
    height: f64,
    row: f64,
    letter: f64,
    about: String,
    boxes: Vec<Frame>,
    /// How many contexts were too narrow.
    pub(crate) left_out: usize,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Flame {}

impl Flame {
    /// The graph whose widths are what one side takes.
    pub(crate) fn new(comparison: &Comparison, side: Side) -> Self {
        let mut flame = Self {
            width: WIDTH,
            height: ROW,
            row: ROW,
            letter: LETTER,
            about: match side {
                Side::Base => "Calling contexts by their time on few cores".to_owned(),
                Side::Scaled => "Calling contexts by their time on many cores".to_owned(),
            },
            boxes: Vec::new(),
            left_out: 0,
        };
        let tree = &comparison.tree;
        let whole = weight(tree.node(NodeIndex::ROOT), side).max(1.0);
        // What is still to be drawn: the box's left edge and depth.
        let mut waiting = vec![(NodeIndex::ROOT, 0.0, 0_usize)];
        while let Some((index, x, depth)) = waiting.pop() {
            let node = tree.node(index);
            let width = weight(node, side) / whole * WIDTH;
            if width < NARROWEST {
                flame.left_out += 1;
                continue;
            }
            flame.boxes.push(drawn(comparison, index, x, depth, width));
            flame.height = flame.height.max((depth + 1) as f64 * ROW);
            let mut at = x;
            for &callee in &node.callees {
                waiting.push((callee, at, depth + 1));
                at += weight(tree.node(callee), side) / whole * WIDTH;
            }
        }
        flame
    }
}

fn weight(node: &Node, side: Side) -> f64 {
    match side {
        Side::Base => node.inclusive.base.weight as f64,
        Side::Scaled => node.inclusive.scaled.weight as f64,
    }
}

fn drawn(comparison: &Comparison, index: NodeIndex, x: f64, depth: usize, width: f64) -> Frame {
    let (tree, works) = (&comparison.tree, comparison.works);
    let node = tree.node(index);
    let uncertainty = comparison.contexts[index.index()].inclusive;
    let function = node.function.map(|function| tree.function(function));
    let name = function.map_or_else(|| "everything".to_owned(), |f| printable(&f.to_string()));
    let times = node.inclusive.times();
    let loss = times.loss(works);
    let share = loss.share_of(comparison.busy_loss()).unwrap_or(0.0);
    let object = function.map_or("", |function| function.object_name());
    let in_object = if object.is_empty() { String::new() } else { format!(" ({object})") };
    let title = format!(
        "{name}{in_object}\n{} per unit of work, before {}\nloss {} ± {}{}\nitself {}",
        per_unit(comparison, times.scaled_per_unit(works)),
        per_unit(comparison, times.base_per_unit(works)),
        signed(comparison, loss.per_unit(works)),
        per_unit(comparison, uncertainty.margin),
        if uncertainty.above_noise {
            let threads_are = threads_are(&comparison.measure);
            format!(", {} of the loss {threads_are}", number::percent(share))
        } else {
            ", within noise".to_owned()
        },
        signed(comparison, node.exclusive.times().loss(works).per_unit(works)),
    );
    // Most losses are small parts of the whole; the root makes them visible.
    let strength = if uncertainty.above_noise { share.abs().min(1.0).sqrt() } else { 0.0 };
    let towards = if loss.numerator > 0 { LOSS } else { GAIN };
    Frame {
        x,
        y: depth as f64 * ROW,
        width,
        colour: mixed(towards, strength),
        label: shortened_to(&name, width),
        name,
        title: printable_lines(&title),
    }
}

fn mixed(towards: [f64; 3], strength: f64) -> String {
    let [r, g, b] =
        [0, 1, 2].map(|i| (NEUTRAL[i] + (towards[i] - NEUTRAL[i]) * strength).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// As much of a name as fits into a box; nothing if that says nothing.
fn shortened_to(name: &str, width: f64) -> String {
    let letters = ((width - 6.0) / LETTER) as usize;
    if letters < 3 { String::new() } else { shortened(name, letters) }
}

/// Printable, but for its own line ends.
fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}
