// Computes the means and the covariances of the rows of a matrix: covariances THREADS SIDE rows|pairs ROWS.
//
// One thread makes the square matrix, row by row. Threads then compute the mean of each row, and new threads the
// covariance of each pair of rows of which the first is one of the first ROWS. Under a mutex, a thread gets what it is to
// do next: a row with all that follow it, or a pair.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int **matrix, **covariance, *mean;
static int side, rows, next_row, next_column;
static bool by_pair;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int take_row(int end)
{
    pthread_mutex_lock(&mutex);
    int row = next_row < end ? next_row++ : -1;
    pthread_mutex_unlock(&mutex);
    return row;
}

static bool take_pair(int *row, int *column)
{
    pthread_mutex_lock(&mutex);
    if (next_column == side)
        next_column = ++next_row;
    bool is_there = next_row < rows;
    *row = next_row, *column = next_column;
    next_column += is_there;
    pthread_mutex_unlock(&mutex);
    return is_there;
}

static void *average(void *unused)
{
    for (int row; (row = take_row(side)) >= 0;) {
        int sum = 0;
        for (int k = 0; k < side; k++)
            sum += matrix[row][k];
        mean[row] = sum / side;
    }
    return unused;
}

static void vary(int i, int j)
{
    int sum = 0;
    for (int k = 0; k < side; k++)
        sum += (matrix[i][k] - mean[i]) * (matrix[j][k] - mean[j]);
    covariance[i][j] = covariance[j][i] = sum / (side - 1);
}

static void *compare(void *unused)
{
    int i, j;
    if (by_pair)
        while (take_pair(&i, &j))
            vary(i, j);
    else
        while ((i = take_row(rows)) >= 0)
            for (j = i; j < side; j++)
                vary(i, j);
    return unused;
}

static void with_threads(void *(*what)(void *), int threads, pthread_t *made)
{
    next_row = next_column = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, what, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    int threads = atoi(argv[1]);
    side = atoi(argv[2]), by_pair = !strcmp(argv[3], "pairs"), rows = atoi(argv[4]);
    if (threads < 1 || side < 2 || rows < 1 || rows > side)
        return 2;
    matrix = malloc(side * sizeof *matrix), covariance = malloc(side * sizeof *covariance);
    mean = malloc(side * sizeof *mean);
    pthread_t *made = malloc(threads * sizeof *made);
    if (!matrix || !covariance || !mean || !made)
        return 1;
    for (int i = 0; i < side; i++) {
        matrix[i] = malloc(side * sizeof **matrix), covariance[i] = malloc(side * sizeof **covariance);
        if (!matrix[i] || !covariance[i])
            return 1;
        for (int k = 0; k < side; k++)
            matrix[i][k] = rand() % 100;
    }
    with_threads(average, threads, made);
    with_threads(compare, threads, made);
    long all = 0;
    for (int i = 0; i < rows; i++)
        for (int j = i; j < side; j++)
            all += covariance[i][j];
    printf("%ld\n", all);
    return 0;
}
