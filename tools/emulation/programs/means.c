// Clusters points around means: means THREADS POINTS MEANS ROUNDS.
//
// Each point is an array of three numbers that is allocated by itself. In each round, new threads find the nearest mean
// of each point, each thread for a part of the points. Then new threads compute the means anew, each thread a part of
// them: for each mean it looks at all points. It ends when no point has changed its mean, or after so many rounds.
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 3, GRID = 1000 };

struct part {
    int first, count;
    int sum[DIMENSIONS];
};

static int **points, **means, *clusters;
static int threads, point_count, mean_count;
static bool changed;

static unsigned distance(const int *a, const int *b)
{
    unsigned sum = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void *assign(void *argument)
{
    struct part *part = argument;
    for (int i = part->first; i < part->first + part->count; i++) {
        unsigned least = UINT_MAX;
        int nearest = 0;
        for (int j = 0; j < mean_count; j++) {
            unsigned to = distance(points[i], means[j]);
            if (to < least)
                least = to, nearest = j;
        }
        if (clusters[i] != nearest) {
            clusters[i] = nearest;
            changed = true;
        }
    }
    return NULL;
}

static void *average(void *argument)
{
    struct part *part = argument;
    for (int j = part->first; j < part->first + part->count; j++) {
        int members = 0;
        memset(part->sum, 0, sizeof part->sum);
        for (int i = 0; i < point_count; i++)
            if (clusters[i] == j) {
                for (int d = 0; d < DIMENSIONS; d++)
                    part->sum[d] += points[i][d];
                members++;
            }
        if (members)
            for (int d = 0; d < DIMENSIONS; d++)
                means[j][d] = part->sum[d] / members;
    }
    return NULL;
}

static void with_threads(void *(*what)(void *), int all, pthread_t *made, struct part *parts)
{
    int first = 0, used = 0;
    for (int i = 0; i < threads && first < all; i++, used++) {
        parts[i].first = first;
        parts[i].count = all / threads + (i < all % threads);
        first += parts[i].count;
        pthread_create(&made[i], NULL, what, &parts[i]);
    }
    for (int i = 0; i < used; i++)
        pthread_join(made[i], NULL);
}

static int **make(int count)
{
    int **all = malloc(count * sizeof *all);
    for (int i = 0; all && i < count; i++) {
        all[i] = malloc(DIMENSIONS * sizeof **all);
        if (!all[i])
            return NULL;
        for (int d = 0; d < DIMENSIONS; d++)
            all[i][d] = rand() % GRID;
    }
    return all;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    threads = atoi(argv[1]), point_count = atoi(argv[2]), mean_count = atoi(argv[3]);
    int rounds = atoi(argv[4]);
    if (threads < 1 || point_count < 1 || mean_count < 1 || rounds < 1)
        return 2;
    points = make(point_count), means = make(mean_count);
    clusters = malloc(point_count * sizeof *clusters);
    pthread_t *made = malloc(threads * sizeof *made);
    struct part *parts = calloc(threads, sizeof *parts);
    if (!points || !means || !clusters || !made || !parts)
        return 1;
    memset(clusters, -1, point_count * sizeof *clusters);
    changed = true;
    for (int round = 0; changed && round < rounds; round++) {
        changed = false;
        with_threads(assign, point_count, made, parts);
        with_threads(average, mean_count, made, parts);
    }
    for (int j = 0; j < 3 && j < mean_count; j++)
        printf("%d %d %d\n", means[j][0], means[j][1], means[j][2]);
    return 0;
}
