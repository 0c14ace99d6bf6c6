/* One busy thread, for whose results all others wait. It computes for HOLD_US without any lock and
 * then wakes the others, each of whom computes for THINK_US and waits for the next result. */
#include "planted.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t planted_lock = PTHREAD_COND_INITIALIZER;
static uint64_t results;
static int closed;

static void publish(int close) {
    pthread_mutex_lock(&guard);
    results++;
    closed = close;
    pthread_cond_broadcast(&planted_lock);
    pthread_mutex_unlock(&guard);
}

/* The busy thread. */
PLANTED_SECTION void planted_section(struct planted_thread *self) {
    do {
        planted_hold(self);
        self->rounds++;
        publish(0);
    } while (!planted_over());
    publish(1);
}

/* Waits for a result after the result `seen`. Returns whether more may come. */
PLANTED_SECTION int planted_waiting(struct planted_thread *self, uint64_t *seen) {
    pthread_mutex_lock(&guard);
    while (results == *seen) {
        pthread_cond_wait(&planted_lock, &guard);
        self->condition_waits++;
    }
    *seen = results;
    int more = !closed;
    pthread_mutex_unlock(&guard);
    return more;
}

static void body(struct planted_thread *self) {
    uint64_t seen = 0;
    if (self->number == 0)
        planted_section(self);
    else
        while (planted_waiting(self, &seen))
            planted_think(self);
}

int main(int argc, char **argv) {
    planted_begin(argc, argv);
    planted_run("c", "pthread_cond", &planted_lock, planted->threads, body);
    return 0;
}
