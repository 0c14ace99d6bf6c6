/* Threads that read under one pthread read-write lock, and write at first and one time in ten. */
#include "planted.h"

pthread_rwlock_t planted_lock = PTHREAD_RWLOCK_INITIALIZER;

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    pthread_rwlock_wrlock(&planted_lock);
    planted_hold(self);
    pthread_rwlock_unlock(&planted_lock);
}

PLANTED_SECTION void planted_reading(struct planted_thread *self) {
    pthread_rwlock_rdlock(&planted_lock);
    planted_hold_as(&self->shared);
    pthread_rwlock_unlock(&planted_lock);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        if (planted_random(self) % 10 == 0 || self->exclusive.acquisitions == 0)
            planted_section(self);
        else
            planted_reading(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c", "pthread_rwlock", &planted_lock, planted->threads, body);
    return 0;
}
