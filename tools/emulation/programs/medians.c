// Clusters points as streaming k-median programs do: medians THREADS POINTS CANDIDATES.
//
// One thread makes the points. For each candidate to become a median, all threads together find out what that would
// save, in steps with a barrier between each two: they read all points, and each adds to sums of its own. The barrier
// is made of a mutex and a condition variable. Its waiters first spin for a moment, and then try the mutex until they
// get it.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIMENSIONS = 128, MEDIANS = 16, SPINS = 350 };

struct barrier {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int inside;
    volatile bool arriving;
};

static struct barrier barrier = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .arriving = true};
static int threads, candidates;
static long points;
static float (*coordinates)[DIMENSIONS];
static float *costs;
static int *assigned;
static bool *moves;
// What each thread would save by closing each median, and by opening the candidate.
static double *sums;
static double saved;
static long medians[MEDIANS];

static void wait_for_phase(bool arriving)
{
    pthread_mutex_lock(&barrier.mutex);
    while (barrier.arriving != arriving) {
        pthread_mutex_unlock(&barrier.mutex);
        for (int spins = 0; barrier.arriving != arriving && spins < SPINS; spins++)
            ;
        while (pthread_mutex_trylock(&barrier.mutex))
            ;
        if (barrier.arriving != arriving)
            pthread_cond_wait(&barrier.changed, &barrier.mutex);
    }
}

// With the mutex held: one thread more or less is inside, and the last one begins the next phase.
static void step(int by, int last)
{
    barrier.inside += by;
    if (barrier.inside == last) {
        barrier.arriving = !barrier.arriving;
        pthread_cond_broadcast(&barrier.changed);
    }
}

static void meet(void)
{
    wait_for_phase(true);
    step(1, threads);
    pthread_mutex_unlock(&barrier.mutex);
    wait_for_phase(false);
    step(-1, 0);
    pthread_mutex_unlock(&barrier.mutex);
}

static float distance(const float *a, const float *b)
{
    float sum = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void *search(void *number)
{
    long me = (long)number, each = points / threads;
    long first = me * each, end = me == threads - 1 ? points : first + each;
    double *own = sums + me * (MEDIANS + 1);
    for (int round = 0; round < candidates; round++) {
        long candidate = (round * 7919L + 13) % points;
        meet();
        for (int i = 0; i <= MEDIANS; i++)
            own[i] = 0;
        meet();
        for (long i = first; i < end; i++)
            moves[i] = false;
        meet();
        for (long i = first; i < end; i++) {
            float cost = distance(coordinates[i], coordinates[candidate]);
            if (cost < costs[i]) {
                moves[i] = true;
                own[MEDIANS] += costs[i] - cost;
            } else {
                own[assigned[i]] += cost - costs[i];
            }
        }
        meet();
        if (me == 0) {
            saved = 0;
            for (int i = 0; i < threads; i++)
                saved += sums[i * (MEDIANS + 1) + MEDIANS];
        }
        meet();
        if (saved > 0)
            for (long i = first; i < end; i++)
                if (moves[i]) {
                    costs[i] = distance(coordinates[i], coordinates[candidate]);
                    assigned[i] = round % MEDIANS;
                }
        meet();
        if (me == 0)
            medians[round % MEDIANS] = candidate;
        meet();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    threads = atoi(argv[1]), points = atol(argv[2]), candidates = atoi(argv[3]);
    if (threads < 1 || points < threads || candidates < 1)
        return 2;
    coordinates = malloc(points * sizeof *coordinates);
    costs = malloc(points * sizeof *costs);
    assigned = malloc(points * sizeof *assigned);
    moves = malloc(points * sizeof *moves);
    sums = malloc(threads * (MEDIANS + 1) * sizeof *sums);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!coordinates || !costs || !assigned || !moves || !sums || !made)
        return 1;
    unsigned random = 1;
    for (long i = 0; i < points; i++) {
        for (int j = 0; j < DIMENSIONS; j++)
            coordinates[i][j] = (random = random * 1664525 + 1013904223) / 4294967296.0f;
        costs[i] = distance(coordinates[i], coordinates[0]);
        assigned[i] = 0;
    }
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, search, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    double all = 0;
    for (long i = 0; i < points; i++)
        all += costs[i];
    printf("%.1f, last saved %.1f, median %ld\n", all, saved, medians[0]);
    return 0;
}
