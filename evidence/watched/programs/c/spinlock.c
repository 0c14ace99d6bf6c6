/* Threads that share one pthread spin lock. */
#include "planted.h"

pthread_spinlock_t planted_lock;

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    pthread_spin_lock(&planted_lock);
    planted_hold(self);
    pthread_spin_unlock(&planted_lock);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    pthread_spin_init(&planted_lock, PTHREAD_PROCESS_PRIVATE);
    planted_run("c", "pthread_spinlock", (const void *)&planted_lock, planted->threads, body);
    return 0;
}
