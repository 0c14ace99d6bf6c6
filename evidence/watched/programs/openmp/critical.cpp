// The threads of a parallel region that share one critical section.
#include <omp.h>

#include "../c/planted.h"

// What the compiler calls the word that it makes of the name below.
extern void *critical_word __asm__(".gomp_critical_user_planted_lock");

PLANTED_SECTION void planted_section(planted_thread *self) {
#pragma omp critical(planted_lock)
    planted_hold(self);
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
#pragma omp parallel num_threads(planted->threads)
    {
        planted_thread *self = &planted->thread[omp_get_thread_num()];
        if (self->number == 0)
            planted_ready(&critical_word);
        planted_wait_for_start();
        while (!planted_over()) {
            planted_think(self);
            planted_section(self);
        }
    }
    planted_truth("openmp", "omp_critical");
}
