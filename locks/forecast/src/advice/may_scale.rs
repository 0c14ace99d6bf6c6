//! A forecast whose band holds that the program scales.

use kilocore_lock_profile::Run;
use kilocore_machine::Description;

use super::uncertain_hold::wait_here;
use crate::words::percent;
use crate::{Curve, model_error};

/// Says that the program may scale as well, if the forecast leaves that open. Where threads have been seen to wait
/// for locks, it does not matter: the locks limit the program already.
pub(super) fn may_scale(today: &Curve, machine: &Description, run: Option<&Run>) -> Option<String> {
    let first = &today.points.first()?.point;
    let end = today.end();
    let most = end.point.cores;
    let apart = first.throughput_per_s / machine.computing(first.cores) * machine.computing(most);
    let mut banded = end.clone();
    model_error::widen(&mut banded);
    let open = banded.high >= apart && !wait_here(run);
    open.then(|| {
        format!(
            "on {most} cores of {} it is forecast to do {} of what its cores would do if they did not hinder one \
             another, and the error of such forecasts leaves {} to all of that open",
            machine.name,
            percent((end.point.throughput_per_s / apart).min(1.0)),
            percent(banded.low / apart)
        )
    })
}
