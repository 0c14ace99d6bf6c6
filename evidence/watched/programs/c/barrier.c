/* Rounds between barriers: all threads compute for THINK_US, and the first for HOLD_US more, which
 * the others wait for. */
#include "planted.h"

pthread_barrier_t planted_lock;

/* The last round. The first thread sets it before it comes to the barrier of that round, and the
 * others look after that barrier. One who looks late may see that the next round is to be the last. */
static uint64_t last = UINT64_MAX;

PLANTED_SECTION void planted_section(struct planted_thread *self, uint64_t round) {
    if (self->number == 0) {
        planted_hold(self);
        self->rounds++;
        if (planted_over())
            __atomic_store_n(&last, round, __ATOMIC_RELAXED);
    }
    pthread_barrier_wait(&planted_lock);
}

static void body(struct planted_thread *self) {
    for (uint64_t round = 0; round <= __atomic_load_n(&last, __ATOMIC_RELAXED); round++) {
        planted_think(self);
        planted_section(self, round);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    pthread_barrier_init(&planted_lock, NULL, (unsigned)planted->threads);
    planted_run("c", "pthread_barrier", &planted_lock, planted->threads, body);
    return 0;
}
