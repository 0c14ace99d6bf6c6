// Counts the colours of a bitmap: histogram THREADS FILE.
//
// The file is mapped. Each thread counts how often each value of each colour is in its part. The counters of all threads
// lie one behind the other, so that the last ones of a thread share a line with the first ones of the next. The first
// thread adds them up.
#include <pthread.h>

#include "mapped.h"

enum { HEADER = 54, VALUES = 256 };

struct part {
    unsigned char *pixels;
    long first, bytes;
    int red[VALUES], green[VALUES], blue[VALUES];
};

static void *count(void *argument)
{
    struct part *part = argument;
    for (long i = part->first; i < part->first + part->bytes; i += 3) {
        unsigned char *pixel = &part->pixels[i];
        part->blue[pixel[0]]++;
        part->green[pixel[1]]++;
        part->red[pixel[2]]++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1)
        return 2;
    long bytes;
    char *file = map_file(argv[2], &bytes);
    long pixels = (bytes - HEADER) / 3, each = pixels / threads;
    struct part *parts = calloc(threads, sizeof *parts);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!parts || !made)
        return 1;
    for (int i = 0; i < threads; i++) {
        long count_of = i == threads - 1 ? pixels - each * i : each;
        parts[i].pixels = (unsigned char *)file;
        parts[i].first = HEADER + 3 * each * i;
        parts[i].bytes = 3 * count_of;
        pthread_create(&made[i], NULL, count, &parts[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    long sums[3][VALUES] = {0};
    for (int i = 0; i < threads; i++)
        for (int value = 0; value < VALUES; value++) {
            sums[0][value] += parts[i].red[value];
            sums[1][value] += parts[i].green[value];
            sums[2][value] += parts[i].blue[value];
        }
    for (int value = 0; value < VALUES; value++)
        printf("%d: %ld %ld %ld\n", value, sums[0][value], sums[1][value], sums[2][value]);
    unmap_file(file, bytes);
    return 0;
}
