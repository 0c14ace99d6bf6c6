// Computes means and covariances of the rows of a matrix by mapping and reducing: covariances THREADS SIDE ROWS.
//
// One thread makes the square matrix, row by row. A task of the first job computes the means of some rows and emits
// them. A task of the second computes the covariance of a pair of rows, of which the first is one of the first ROWS,
// and emits it with a key that says which pair.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapreduce.h"

enum { CHUNK = 65536 };

struct pair {
    int row, column;
};

static int **matrix, *mean, *numbers;
static struct pair *pairs;
static int side;

static void average(long first, long count)
{
    for (long row = first; row < first + count; row++) {
        int sum = 0;
        for (int k = 0; k < side; k++)
            sum += matrix[row][k];
        emit(&numbers[row], (void *)(intptr_t)(sum / side));
    }
}

static void vary(long first, long count)
{
    for (long i = first; i < first + count; i++) {
        const int *one = matrix[pairs[i].row], *other = matrix[pairs[i].column];
        int of_one = mean[pairs[i].row], of_other = mean[pairs[i].column], sum = 0;
        for (int k = 0; k < side; k++)
            sum += (one[k] - of_one) * (other[k] - of_other);
        struct pair *key = malloc(sizeof *key);
        if (!key)
            exit(1);
        *key = pairs[i];
        emit(key, (void *)(intptr_t)(sum / (side - 1)));
    }
}

static int by_pair(const void *one, const void *other)
{
    const struct pair *a = one, *b = other;
    return a->row != b->row ? a->row - b->row : a->column - b->column;
}

static unsigned hash_pair(const void *key)
{
    const struct pair *pair = key;
    return pair->row * 4099 + pair->column;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int threads = atoi(argv[1]), rows = atoi(argv[3]);
    side = atoi(argv[2]);
    if (threads < 1 || side < 2 || rows < 1 || rows > side)
        return 2;
    long pair_count = 0, found;
    matrix = malloc(side * sizeof *matrix), mean = malloc(side * sizeof *mean);
    numbers = malloc(side * sizeof *numbers), pairs = malloc((long)rows * side * sizeof *pairs);
    if (!matrix || !mean || !numbers || !pairs)
        return 1;
    for (int i = 0; i < side; i++) {
        if (!(matrix[i] = malloc(side * sizeof **matrix)))
            return 1;
        numbers[i] = i;
        for (int k = 0; k < side; k++)
            matrix[i][k] = rand() % 100;
    }
    make_pool(threads);
    long rows_of_task = CHUNK / (side * sizeof(int));
    struct job means = {side, rows_of_task ? rows_of_task : 1, NULL, average, NULL, compare_ints, hash_int};
    struct result *results = map_reduce(&means, &found);
    for (long i = 0; i < found; i++)
        mean[*(int *)results[i].key] = (intptr_t)results[i].value;
    free(results);
    for (int i = 0; i < rows; i++)
        for (int j = i; j < side; j++)
            pairs[pair_count++] = (struct pair){i, j};
    struct job covariances = {pair_count, 1, NULL, vary, NULL, by_pair, hash_pair};
    results = map_reduce(&covariances, &found);
    long all = 0;
    for (long i = 0; i < found; i++)
        all += (intptr_t)results[i].value;
    printf("%ld, %ld\n", found, all);
    return 0;
}
