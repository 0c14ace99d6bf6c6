//! Every lock behind the door of a moderated one, under shuttle.

use crate::common;
use crate::common::moderated;

use common::altered::{Altered, Sound};
use common::programs;
use kilocore_locks::{LockId, LockVisitor, RawLock, SymmetricFences};
use kilocore_platform::Shuttle;
use moderated::{AllInTheRoom, Behind, Impatient, OneInTheQueue, TwoInTheQueue};

type Checked = Altered<Shuttle, Sound>;
type Door<L, W> = Behind<Checked, L, SymmetricFences, W>;

/// Schedules per lock and program.
const SCHEDULES: usize = 300;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

macro_rules! for_every_lock {
    ($test:ident, $program:expr) => {
        #[test]
        fn $test() {
            struct Check;
            impl LockVisitor<Checked> for Check {
                type Output = ();
                fn visit<L: RawLock<Checked>>(self) {
                    common::explore($program, SCHEDULES, DEPTH);
                }
            }
            for &lock in LockId::ALL {
                let start = std::time::Instant::now();
                lock.visit(Check);
                eprintln!("{}: {lock}: {:.1?}", stringify!($test), start.elapsed());
            }
        }
    };
}

for_every_lock!(four_with_one_in_the_queue, || {
    programs::exclusion::<Checked, Door<L, OneInTheQueue>>(4, 3, programs::all_together);
});
for_every_lock!(five_with_two_in_the_queue, || {
    programs::exclusion::<Checked, Door<L, TwoInTheQueue>>(5, 3, programs::all_together);
});
for_every_lock!(three_in_the_room, || {
    programs::exclusion::<Checked, Door<L, AllInTheRoom>>(3, 3, programs::all_together);
});
for_every_lock!(three_that_give_up, || {
    programs::exclusion::<Checked, Door<L, Impatient>>(3, 2, programs::all_together);
});
for_every_lock!(last_holder_destroys, || {
    programs::destroyed_by_last_holder::<Checked, Door<L, AllInTheRoom>>();
});
