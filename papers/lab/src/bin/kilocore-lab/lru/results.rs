//! What was simulated, to be looked up.

use kilocore_lab::lru::{Folios, Pattern, Point, Setting, Variant};
use kilocore_machine::Description;
use kilocore_show::{Across, Line, Lines, Mark};

/// The points of a sweep, and of what they are.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    pub(super) machine: &'a Description,
    pub(super) pattern: Pattern,
    pub(super) folios: Folios,
    pub(super) seed: u64,
    pub(super) variants: &'a [Variant],
    /// The numbers of stripes, ascending.
    pub(super) factors: &'a [u32],
    /// The numbers of threads, ascending.
    pub(super) threads: &'a [u32],
    /// By variants, then by factors, then by threads.
    pub(super) points: &'a [Point],
}

impl Results<'_> {
    /// What the processes did, in words.
    pub(super) fn what(&self) -> String {
        if self.folios.are_pages() {
            return self.pattern.to_string();
        }
        let waits = if self.folios.wait { " that wait in batches" } else { "" };
        format!("{} in folios of {} pages{waits}", self.pattern, self.folios.order.frames())
    }

    /// The point of a variant. Of one that has no factor, it is the same for all factors.
    pub(super) fn point(&self, variant: Variant, factor: u32, threads: u32) -> Option<&Point> {
        let factor = if variant.has_factor() { factor } else { 1 };
        let wanted = |point: &&Point| {
            point.variant == variant.name() && point.factor == factor && point.threads == threads
        };
        self.points.iter().find(wanted)
    }

    pub(super) fn most_threads(&self) -> u32 {
        self.threads.last().copied().unwrap_or(1)
    }

    pub(super) fn largest_factor(&self) -> u32 {
        self.factors.last().copied().unwrap_or(1)
    }

    /// Throughput over that of the stock kernel with as many threads; not a number if either was not
    /// simulated.
    pub(super) fn over_stock(&self, variant: Variant, factor: u32, threads: u32) -> f64 {
        let rate = |variant| {
            let point = self.point(variant, factor, threads);
            point.map_or(f64::NAN, |point| point.throughput_mb_per_s)
        };
        rate(variant) / rate(Variant::Stock)
    }

    /// Variants with stripes, if there is the stock kernel to compare them with.
    pub(super) fn compared(&self) -> Vec<Variant> {
        if !self.variants.contains(&Variant::Stock) {
            return Vec::new();
        }
        self.variants.iter().copied().filter(|variant| variant.has_factor()).collect()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.seed)
    }

    /// Throughput against threads, with the largest factor.
    pub(super) fn chart(&self) -> Lines {
        let factor = self.largest_factor();
        let line = |&variant: &Variant| {
            let points = self.threads.iter().filter_map(|&threads| {
                let point = self.point(variant, factor, threads)?;
                Some((f64::from(threads), point.throughput_mb_per_s))
            });
            Line::new(variant.name(), points.collect())
        };
        Lines {
            title: format!("{} with factor {factor}", self.what()),
            mark: self.mark(),
            across: Across::Threads,
            up: "MB per second".to_owned(),
            by: "variant",
            linear: None,
            small: false,
            lines: self.variants.iter().map(line).collect(),
        }
    }
}
