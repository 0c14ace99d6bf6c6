/* Blocks that realloc makes, or makes large, whose bytes stay. The pool serves four of them. */
#include "check.h"

int main(void)
{
	unsigned char *block = realloc(NULL, 1 << 20), *small = malloc(1000), *step;
	size_t bytes;

	CHECK(block != NULL && small != NULL);
	memset(block, 1, 1 << 20);
	memset(small, 2, 1000);
	small = realloc(small, 300000);
	CHECK(small != NULL && all(small, 1000, 2));
	memset(small, 3, 300000);
	CHECK(all(block, 1 << 20, 1));
	free(block);
	CHECK(all(small, 300000, 3));
	free(small);
	/* Just below what is large, to just above. */
	block = malloc((128 << 10) - 64);
	memset(block, 4, (128 << 10) - 64);
	block = realloc(block, 128 << 10);
	CHECK(block != NULL && all(block, (128 << 10) - 64, 4));
	free(block);
	/* By small steps: once to become large, as all that it grows to later has room then. */
	step = malloc(1);
	for (bytes = 2; bytes < 200000; bytes += 1000) {
		step = realloc(step, bytes);
		CHECK(step != NULL);
		step[bytes - 1] = 5;
	}
	CHECK(step[1] == 5 && step[bytes - 1001] == 5);
	puts("ok");
	return 0;
}
