//! The tables of `docs/evidence/lru-hit-ratios.md`. The words around them are written by hand.

use kilocore_lru::Policy;
use kilocore_points::{Elsewhere, PointSource};
use kilocore_show::Table;

use crate::hit_ratios::contender::Contender;
use crate::hit_ratios::ratio::{Ratio, Traces};
use crate::hit_ratios::trace::Kind;

/// The seed of all traces.
pub const SEED: u64 = 0x5eed;

/// The numbers of stripes.
pub const FACTORS: [u32; 6] = [1, 4, 16, 64, 128, 256];

/// The capacities in pages.
pub const CAPACITIES: [u32; 3] = [1_000, 10_000, 100_000];

/// The policies that a row of factors is shown for.
const POLICIES: [(&str, Policy); 4] = [
    ("stripes in turn", Policy::PLAIN),
    ("oldest tail", Policy::BALANCED),
    ("oldest tail, returns", Policy::RESISTANT),
    ("lazy", Policy::LAZY),
];

/// The contenders that have no factor of stripes; a line above each table names their hit ratios.
const SINGLE: [(&str, Contender); 3] = [
    ("exact LRU", Contender::Exact),
    ("S3-FIFO", Contender::S3Fifo),
    ("generations", Contender::MultiGeneration),
];

/// Returns the tables for traces of so many uses.
///
/// # Errors
/// If another process computes some of the ratios.
///
/// # Panics
/// If a thread cannot be started.
pub fn tables(source: &PointSource, uses: u32) -> Result<String, Elsewhere> {
    let mut contenders: Vec<Contender> = SINGLE.iter().map(|(_, contender)| *contender).collect();
    for (_, policy) in POLICIES {
        contenders.extend(FACTORS.map(|factor| Contender::Striped(factor, policy)));
    }
    let runs: Vec<Ratio> = Kind::ALL
        .into_iter()
        .flat_map(|kind| CAPACITIES.map(|capacity| (kind, capacity)))
        .flat_map(|(kind, capacity)| {
            contenders.iter().map(move |&contender| Ratio { kind, capacity, contender })
        })
        .collect();
    let ratios = source.points(&Traces { uses, seed: SEED }, &runs, &|| {})?;
    let ratio =
        |run: Ratio| ratios[runs.iter().position(|known| *known == run).expect("it was run")];
    let mut text = String::new();
    for kind in Kind::ALL {
        for capacity in CAPACITIES {
            table(&mut text, kind, capacity, |contender| {
                ratio(Ratio { kind, capacity, contender })
            });
        }
    }
    Ok(text)
}

fn table(text: &mut String, kind: Kind, capacity: u32, ratio: impl Fn(Contender) -> f64) {
    let exact = ratio(Contender::Exact);
    let row = |factor: u32| {
        let cell = |(_, policy)| {
            let ratio = ratio(Contender::Striped(factor, policy));
            format!("{ratio:.2} ({:+.2})", ratio - exact)
        };
        (factor.to_string(), POLICIES.map(cell).to_vec())
    };
    let table = Table {
        front: "factor",
        headings: POLICIES.map(|(name, _)| name).into(),
        rows: FACTORS.map(row).to_vec(),
        ..Table::default()
    };
    let single = SINGLE.map(|(name, contender)| format!("{name} {:.2}", ratio(contender)));
    *text += &format!(
        "### {}, {capacity} pages\n\n{} %.\n\n{}\n",
        kind.name(),
        single.join(" %, "),
        table.markdown()
    );
}
