/* Threads that share one pthread mutex. The same source serves glibc and musl. */
#include "planted.h"

#ifdef __GLIBC__
#define LOCK_NAME "pthread_mutex"
#else
#define LOCK_NAME "musl_pthread_mutex"
#endif

pthread_mutex_t planted_lock = PTHREAD_MUTEX_INITIALIZER;

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    pthread_mutex_lock(&planted_lock);
    planted_hold(self);
    pthread_mutex_unlock(&planted_lock);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c", LOCK_NAME, &planted_lock, planted->threads, body);
    return 0;
}
