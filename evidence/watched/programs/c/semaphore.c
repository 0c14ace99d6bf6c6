/* Threads that share one POSIX semaphore of the value one, as a lock. */
#include <semaphore.h>

#include "planted.h"

sem_t planted_lock;

PLANTED_SECTION void planted_section(struct planted_thread *self) {
    while (sem_wait(&planted_lock) != 0) {
        /* A signal woke it. */
    }
    planted_hold(self);
    sem_post(&planted_lock);
}

static void body(struct planted_thread *self) {
    while (!planted_over()) {
        planted_think(self);
        planted_section(self);
    }
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    sem_init(&planted_lock, 0, 1);
    planted_run("c", "posix_semaphore", &planted_lock, planted->threads, body);
    return 0;
}
