//! The plugin, and what it is told.

use std::path::Path;

/// What the plugin is told.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    /// The name of the memory that is shared with it.
    pub(crate) shared: &'a str,
    /// If it traces locks: how many instructions a processor looks ahead.
    pub(crate) window: Option<u32>,
    /// Whether it records who allocates memory.
    pub(crate) sites: bool,
}

/// The plugin, as QEMU is told of it.
pub(crate) fn plugin<'a>(library: &'a Path, told: &Told<'_>) -> kilocore_qemu::Plugin<'a> {
    let mut arguments = vec![format!("shared={}", told.shared).into()];
    if let Some(window) = told.window {
        arguments.extend(["locks=on".into(), format!("window={window}").into()]);
    }
    if told.sites {
        arguments.push("sites=on".into());
    }
    kilocore_qemu::Plugin { library, arguments }
}
