//! Advice as it is shown, with what it is of and what it does not cover.

mod document;
mod tables;

use document::{Document, points};
use kilocore_show::{About, Host, Lines, Points, Study, Table};
use serde::Serialize;

use super::results::Results;

impl Study for Results {
    fn about(&self) -> About {
        About {
            generated: self.generated.clone(),
            kind: "A program's references, simulated",
            title: format!("Where the memory of {} should lie", self.about.command.join(" ")),
            host: Host::named(&self.machine.name, self.setting.processors_on_nodes()),
            parameters: self.setting.parameters(),
        }
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        Vec::new()
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
