/* Threads that each take a mutex of their own, on cache lines of its own: nobody ever waits. */
#include "planted.h"

struct own {
    _Alignas(128) pthread_mutex_t lock;
};
struct own planted_locks[PLANTED_THREADS_MOST];

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    pthread_mutex_t *lock = &planted_locks[self->number].lock;
    pthread_mutex_lock(lock);
    planted_hold(self);
    pthread_mutex_unlock(lock);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    for (int i = 0; i < planted->threads; i++)
        pthread_mutex_init(&planted_locks[i].lock, NULL);
    planted_run("c", "pthread_mutex", planted_locks, planted->threads, body);
    return 0;
}
