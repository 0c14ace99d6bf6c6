// Fits a line to points of two bytes each by mapping and reducing: regression THREADS FILE.
//
// The file is mapped. A task adds up x, y, xx, yy and xy of its part, and emits the five sums.
#include <stdint.h>

#include "mapped.h"
#include "mapreduce.h"

enum { SUMS = 5, CHUNK = 65536 };

static const signed char *points;
static short keys[SUMS] = {0, 1, 2, 3, 4};

static void add(long first, long count)
{
    long long x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (long i = first; i < first + count; i++) {
        int a = points[2 * i], b = points[2 * i + 1];
        x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    long long sums[SUMS] = {x, y, xx, yy, xy};
    for (int i = 0; i < SUMS; i++)
        emit(&keys[i], (void *)(intptr_t)sums[i]);
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    long bytes, found;
    char *file = map_file(argv[2], &bytes);
    points = (signed char *)file;
    struct job job = {bytes / 2, CHUNK / 2, NULL, add, sum_of, compare_shorts, hash_short};
    make_pool(threads);
    struct result *results = map_reduce(&job, &found);
    for (long i = 0; i < found; i++)
        printf("%ld\n", (long)(intptr_t)results[i].value);
    unmap_file(file, bytes);
    return 0;
}
