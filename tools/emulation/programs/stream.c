// Threads that each go three times through a part of an array that no cache holds: stream THREADS.
#include <pthread.h>
#include <stdlib.h>
static const long ALL = 1 << 24;
static int threads;
static double *values;
static void *run(void *number)
{
    long part = ALL / threads, first = part * (long)number;
    double sum = 0;
    for (int round = 0; round < 3; round++)
        for (long i = first; i < first + part; i++)
            sum += values[i] = values[i] * 3.0 + round;
    return sum < 0 ? values : NULL;
}
int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    values = calloc(ALL, sizeof *values);
    pthread_t made[threads];
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, run, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return 0;
}
