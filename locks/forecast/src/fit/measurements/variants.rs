//! What was measured of each variant of a program: under each lock, or of whatever else was varied.

use kilocore_figures::{CurvePoint, Provenance};
use kilocore_locks::LockId;
use serde::Serialize;

use super::error::{ReadError, shown};
use super::measured::{Measurement, Measurements};
use super::place::{InputPlace, LeftOut};

/// The throughput of a variant on one number of cores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VariantPoint {
    /// How many cores there were, each with one thread.
    pub cores: u32,
    /// The throughput, larger than zero. The unit is the same for all variants.
    pub throughput: f64,
}

/// A variant of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its name in the input.
    pub name: String,
    /// The lock that it is, if it is one that Kilocore has.
    pub lock: Option<LockId>,
    /// What was measured, by ascending cores, which are all different. There is at least one point.
    pub points: Vec<VariantPoint>,
}

/// A table of throughputs by variants and cores.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTable {
    /// Where the throughputs come from: measured, unless the input says something else.
    pub provenance: Provenance,
    /// The variants, in the order of the input. There is at least one.
    pub variants: Vec<Variant>,
    /// What was taken to be so though the input does not say it, in sentences without a full stop.
    pub assumed: Vec<String>,
    /// What was left out: columns that are not needed, then fields in the order of the file.
    pub left_out: Vec<LeftOut>,
}

impl CurvePoint for VariantPoint {
    fn cores(&self) -> u32 {
        self.cores
    }

    fn throughput(&self) -> f64 {
        self.throughput
    }
}

/// The lock of that name, in small letters or as written.
pub(super) fn lock_named(name: &str) -> Option<LockId> {
    LockId::named(name).or_else(|| LockId::named(&name.to_lowercase()))
}

impl MeasuredTable {
    /// Says that the variant of this name was measured under a lock.
    ///
    /// # Errors
    /// [`ReadError::NoVariant`] if no variant has this name; [`ReadError::LockTwice`] if another variant
    /// was measured under that lock: of two workloads under one lock, none can be told from the other.
    pub fn measured_under(&mut self, name: &str, lock: LockId) -> Result<(), ReadError> {
        let Some(at) = self.variants.iter().position(|variant| variant.name == name) else {
            let known: Vec<String> = self.variants.iter().map(|v| shown(&v.name)).collect();
            return Err(ReadError::NoVariant { name: shown(name), known: known.join(", ") });
        };
        let mut others = self.variants.iter().enumerate().filter(|(other, _)| *other != at);
        if let Some((_, other)) = others.find(|(_, other)| other.lock == Some(lock)) {
            return Err(ReadError::LockTwice {
                lock: lock.name(),
                first: shown(&other.name),
                second: shown(name),
            });
        }
        self.variants[at].lock = Some(lock);
        self.assumed.push(format!("variant '{}' was measured under {lock}", shown(name)));
        Ok(())
    }

    /// What was measured under locks. Variants that are no lock are left out.
    ///
    /// # Errors
    /// [`ReadError::NothingUsable`] if no variant is a lock.
    pub fn measurements(&self) -> Result<Measurements, ReadError> {
        let mut left_out = self.left_out.clone();
        let mut points = Vec::new();
        for variant in &self.variants {
            let Some(lock) = variant.lock else {
                let name = shown(&variant.name);
                let why = format!(
                    "Kilocore has no counterpart of lock '{name}' (`kilocore list locks` lists what it \
                     has; --lock-of {name}=LOCK names the one under which it was measured, and without --machine \
                     its law is shown)"
                );
                left_out.push(LeftOut { place: InputPlace::Variant(name), why });
                continue;
            };
            let alias = (variant.name != lock.name()).then(|| variant.name.clone());
            points.extend(variant.points.iter().map(|point| Measurement {
                lock,
                alias: alias.clone(),
                cores: point.cores,
                throughput: point.throughput,
            }));
        }
        if points.is_empty() {
            left_out.retain(|left_out| !matches!(left_out.place, InputPlace::Columns(_)));
            return Err(ReadError::nothing_usable(&left_out));
        }
        points.sort_by_key(|point| (point.lock, point.alias.clone(), point.cores));
        Ok(Measurements { points, left_out })
    }
}
