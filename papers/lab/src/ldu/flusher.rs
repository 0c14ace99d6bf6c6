//! Applies logs that nobody reads: the paper's periodic flush.

use kilocore_ldu::Scheme;
use kilocore_platform::Cycles;
use kilocore_sim::Sim;

use crate::ldu::world::World;

/// The work of a kernel thread. From time to time, it applies all deferred updates to the trees of
/// all files and of the families that stay. Under schemes that defer nothing, it has nothing to do.
pub(crate) fn flush_now_and_then<F: Scheme<Sim>, A: Scheme<Sim>>(world: &World<F, A>) {
    let period = Cycles((world.setting.flush_us * world.cycles_per_us) as u64);
    let mut context = world.memory.context();
    while world.progress.running.get() > 0 {
        Sim::sleep(period);
        for region in &world.layout {
            if let Some((file, first)) = &region.file
                && first.0 == 0
            {
                world.memory.synchronize_file(file, &mut context);
            }
        }
        world.memory.synchronize_file(&world.data, &mut context);
        let families = world.families.borrow().clone();
        for family in families {
            world.memory.synchronize_anonymous(&family, &mut context);
        }
    }
}
