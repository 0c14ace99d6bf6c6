// The threads of a parallel region in rounds between barriers: all compute for THINK_US, and the
// first for HOLD_US more, which the others wait for.
#include <omp.h>

#include "../c/planted.h"

// The last round. The first thread sets it before it comes to the barrier of that round, and the
// others look after that barrier. One who looks late may see that the next round is to be the last.
static uint64_t last = UINT64_MAX;

PLANTED_SECTION void planted_section(planted_thread *self, uint64_t round) {
    if (self->number == 0) {
        planted_hold(self);
        self->rounds++;
        if (planted_over())
            __atomic_store_n(&last, round, __ATOMIC_RELAXED);
    }
#pragma omp barrier
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
#pragma omp parallel num_threads(planted->threads)
    {
        planted_thread *self = &planted->thread[omp_get_thread_num()];
        if (self->number == 0) {
            // libgomp does not tell where the barrier is.
            char line[32];
            snprintf(line, sizeof line, "%d", (int)getpid());
            planted_open(line);
        }
        planted_wait_for_start();
        for (uint64_t round = 0; round <= __atomic_load_n(&last, __ATOMIC_RELAXED); round++) {
            planted_think(self);
            planted_section(self, round);
        }
    }
    planted_truth("openmp", "omp_barrier");
}
