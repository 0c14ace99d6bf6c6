//! The results as they are shown.

use kilocore_show::{About, Host, Lines, Points, Study, Table, described};
use serde::Serialize;

use crate::simulated::document::{Document, points};
use crate::simulated::results::Results;
use crate::simulated::tables;

impl Study for Results<'_> {
    fn about(&self) -> About {
        About {
            generated: self.generated.clone(),
            kind: "A page pool, simulated",
            title: format!("Page pools under {}", self.what()),
            host: Host::Machine(described(self.plan.machine)),
            parameters: self.plan.setting.parameters(),
        }
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        if self.plan.cores.len() > 1 { vec![self.chart()] } else { Vec::new() }
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
