// Fits a line to points of two bytes each: regression THREADS FILE.
//
// The file is mapped. Each thread adds up x, y, xx, yy and xy of its part, in what it was given by the first thread.
// All of that is in one array, which begins where malloc has it begin.
#include <pthread.h>

#include "mapped.h"

struct point {
    char x, y;
};

struct part {
    pthread_t thread;
    struct point *points;
    int count;
    long long x, y, xx, yy, xy;
};

static void *sum(void *argument)
{
    struct part *part = argument;
    for (int i = 0; i < part->count; i++) {
        part->x += part->points[i].x;
        part->xx += part->points[i].x * part->points[i].x;
        part->y += part->points[i].y;
        part->yy += part->points[i].y * part->points[i].y;
        part->xy += part->points[i].x * part->points[i].y;
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
    long points = bytes / 2, each = points / threads;
    struct part *parts = malloc(threads * sizeof *parts);
    if (!parts)
        return 1;
    for (int i = 0; i < threads; i++) {
        parts[i].points = (struct point *)file + each * i;
        parts[i].count = i == threads - 1 ? points - each * i : each;
        parts[i].x = parts[i].y = parts[i].xx = parts[i].yy = parts[i].xy = 0;
        pthread_create(&parts[i].thread, NULL, sum, &parts[i]);
    }
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(parts[i].thread, NULL);
        x += parts[i].x, y += parts[i].y, xx += parts[i].xx, yy += parts[i].yy, xy += parts[i].xy;
    }
    double slope = (points * xy - x * y) / (points * xx - x * x);
    printf("y = %f x + %f, yy %f\n", slope, (y - slope * x) / points, yy);
    unmap_file(file, bytes);
    return 0;
}
