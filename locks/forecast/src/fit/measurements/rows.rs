//! The rows that were read so far.

use std::collections::{BTreeMap, HashMap};

use kilocore_figures::{Provenance, ascending};

use super::error::{ReadError, shown};
use super::place::{InputPlace, LeftOut};
use super::variants::{MeasuredTable, Variant, VariantPoint, lock_named};

/// The most variants that are told apart. A column of more names is none of variants.
const MOST_VARIANTS: usize = 500;

/// Rows, before repeated measurements are taken together.
#[derive(Debug, Default)]
pub(super) struct Rows {
    names: Vec<String>,
    /// The index of each name.
    indices: HashMap<String, usize>,
    /// By variant and cores.
    throughputs: BTreeMap<(usize, u32), Vec<f64>>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) assumed: Vec<String>,
    /// What the input says of where its figures come from.
    provenance: Option<Provenance>,
}

impl Rows {
    /// Notes the word by which the input says at a place where figures come from.
    ///
    /// # Errors
    /// [`ReadError::UnknownProvenance`] if that is none; [`ReadError::TwoProvenances`] if it was another one before.
    pub(super) fn come_from(&mut self, word: &str, place: InputPlace) -> Result<(), ReadError> {
        let Some(second) = Provenance::named(word) else {
            return Err(ReadError::UnknownProvenance { place, word: shown(word) });
        };
        match *self.provenance.get_or_insert(second) {
            first if first == second => Ok(()),
            first => Err(ReadError::TwoProvenances { place, first, second }),
        }
    }

    /// Adds a measurement.
    ///
    /// # Errors
    /// [`ReadError::TooManyVariants`].
    pub(super) fn add(&mut self, name: &str, cores: u32, throughput: f64) -> Result<(), ReadError> {
        let index = match self.indices.get(name) {
            Some(&index) => index,
            None => self.new_name(name)?,
        };
        self.throughputs.entry((index, cores)).or_default().push(throughput);
        Ok(())
    }

    fn new_name(&mut self, name: &str) -> Result<usize, ReadError> {
        // A lock's own name is the same in large letters.
        let own = lock_named(name).map(|lock| lock.name());
        let own = own.filter(|own| own.eq_ignore_ascii_case(name)).unwrap_or(name);
        let index = match self.indices.get(own) {
            Some(&index) => index,
            None if self.names.len() >= MOST_VARIANTS => {
                return Err(ReadError::TooManyVariants(MOST_VARIANTS));
            }
            None => {
                self.names.push(own.to_owned());
                self.indices.insert(own.to_owned(), self.names.len() - 1);
                self.names.len() - 1
            }
        };
        self.indices.insert(name.to_owned(), index);
        Ok(index)
    }

    /// Notes that these columns are not needed.
    pub(super) fn ignore_columns(&mut self, names: Vec<String>) {
        if !names.is_empty() {
            let why = "not needed for a fit".to_owned();
            self.left_out.push(LeftOut { place: InputPlace::Columns(names), why });
        }
    }

    /// Puts the median in the place of repeated measurements.
    ///
    /// # Errors
    /// [`ReadError::NothingUsable`] if there is no row.
    pub(super) fn finish(mut self) -> Result<MeasuredTable, ReadError> {
        if self.throughputs.is_empty() {
            self.left_out.retain(|left_out| !matches!(left_out.place, InputPlace::Columns(_)));
            return Err(ReadError::nothing_usable(&self.left_out));
        }
        let variant = |name: String| {
            let lock = lock_named(&name);
            Variant { lock, name, points: Vec::new() }
        };
        let mut variants: Vec<Variant> =
            std::mem::take(&mut self.names).into_iter().map(variant).collect();
        for ((index, cores), repeats) in std::mem::take(&mut self.throughputs) {
            let sorted = ascending(repeats);
            let upper = sorted[sorted.len() / 2];
            let lower = sorted[(sorted.len() - 1) / 2];
            let throughput = lower.midpoint(upper);
            variants[index].points.push(VariantPoint { cores, throughput });
        }
        let provenance = self.provenance.unwrap_or(Provenance::Measured);
        let Self { assumed, left_out, .. } = self;
        Ok(MeasuredTable { provenance, variants, assumed, left_out })
    }
}
