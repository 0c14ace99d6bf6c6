// Counts the colours of a bitmap by mapping and reducing: histogram THREADS FILE.
//
// The file is mapped. A task counts how often each value of each colour is in its part, and emits each that it has
// found.
#include <stdint.h>

#include "mapped.h"
#include "mapreduce.h"

enum { HEADER = 54, VALUES = 256, COLOURS = 3, CHUNK = 65536 };

static unsigned char *pixels;
static short keys[COLOURS * VALUES];

static void count(long first, long how_many)
{
    int found[COLOURS * VALUES] = {0};
    for (const unsigned char *pixel = pixels + 3 * first, *end = pixel + 3 * how_many; pixel < end; pixel += 3) {
        found[pixel[0]]++;
        found[pixel[1] + VALUES]++;
        found[pixel[2] + 2 * VALUES]++;
    }
    for (int i = 0; i < COLOURS * VALUES; i++)
        if (found[i])
            emit(&keys[i], (void *)(intptr_t)found[i]);
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    long bytes, found;
    char *file = map_file(argv[2], &bytes);
    pixels = (unsigned char *)file + HEADER;
    for (int i = 0; i < COLOURS * VALUES; i++)
        keys[i] = i;
    struct job job = {(bytes - HEADER) / 3, CHUNK / 3, NULL, count, sum_of, compare_shorts, hash_short};
    make_pool(threads);
    struct result *results = map_reduce(&job, &found);
    for (long i = 0; i < found; i++)
        printf("%d: %ld\n", *(short *)results[i].key, (long)(intptr_t)results[i].value);
    unmap_file(file, bytes);
    return 0;
}
