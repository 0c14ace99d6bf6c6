// Clusters points around means by mapping and reducing: means THREADS POINTS MEANS ROUNDS.
//
// Each point is an array of three numbers that is allocated by itself. In each round, a task finds the nearest mean
// of each of its points and emits the point with that mean; the points of a mean are reduced to their sum. It ends
// when no point has changed its mean, or after so many rounds.
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapreduce.h"

enum { DIMENSIONS = 3, GRID = 1000, CHUNK = 65536 };

// A point, or the sum of several.
struct point {
    int count;
    int at[DIMENSIONS];
};

static struct point **points;
static int **means, *clusters, *numbers;
static int mean_count;
// Apart from what is only read. Most rounds of a long run change few points: the first ones are as cheap here.
static struct {
    _Alignas(64) bool any;
} changed;

static unsigned distance(const int *a, const int *b)
{
    unsigned sum = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void assign(long first, long count)
{
    for (long i = first; i < first + count; i++) {
        unsigned least = UINT_MAX;
        int nearest = 0;
        for (int j = 0; j < mean_count; j++) {
            unsigned to = distance(points[i]->at, means[j]);
            if (to < least)
                least = to, nearest = j;
        }
        if (clusters[i] != nearest) {
            clusters[i] = nearest;
            if (!changed.any)
                changed.any = true;
        }
        emit(&numbers[nearest], points[i]);
    }
}

static void *add(struct block *values)
{
    struct point *sum = calloc(1, sizeof *sum);
    if (!sum)
        exit(1);
    for (; values; values = values->next)
        for (int i = 0; i < values->used; i++) {
            const struct point *one = values->values[i];
            sum->count += one->count;
            for (int d = 0; d < DIMENSIONS; d++)
                sum->at[d] += one->at[d];
        }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    int threads = atoi(argv[1]), point_count = atoi(argv[2]), rounds = atoi(argv[4]);
    mean_count = atoi(argv[3]);
    if (threads < 1 || point_count < 1 || mean_count < 1 || rounds < 1)
        return 2;
    points = malloc(point_count * sizeof *points), means = malloc(mean_count * sizeof *means);
    clusters = malloc(point_count * sizeof *clusters), numbers = malloc(mean_count * sizeof *numbers);
    if (!points || !means || !clusters || !numbers)
        return 1;
    for (int i = 0; i < point_count; i++) {
        if (!(points[i] = malloc(sizeof **points)))
            return 1;
        points[i]->count = 1;
        for (int d = 0; d < DIMENSIONS; d++)
            points[i]->at[d] = rand() % GRID;
    }
    for (int i = 0; i < mean_count; i++) {
        if (!(means[i] = malloc(DIMENSIONS * sizeof **means)))
            return 1;
        numbers[i] = i;
        for (int d = 0; d < DIMENSIONS; d++)
            means[i][d] = rand() % GRID;
    }
    memset(clusters, -1, point_count * sizeof *clusters);
    changed.any = true;
    struct job job = {point_count, CHUNK / (DIMENSIONS * sizeof(int)), NULL, assign, add, compare_ints, hash_int};
    make_pool(threads);
    for (int round = 0; changed.any && round < rounds; round++) {
        changed.any = false;
        long found;
        struct result *results = map_reduce(&job, &found);
        for (long i = 0; i < found; i++) {
            struct point *sum = results[i].value;
            for (int d = 0; d < DIMENSIONS; d++)
                means[*(int *)results[i].key][d] = sum->at[d] / sum->count;
            free(sum);
        }
        free(results);
    }
    for (int j = 0; j < 3 && j < mean_count; j++)
        printf("%d %d %d\n", means[j][0], means[j][1], means[j][2]);
    return 0;
}
