/* When the pool has no room, memory is the kernel's, and what spans both is unmapped as a whole. */
#include "check.h"

enum { BYTES = 512 * 1024, COUNT = 64 };

int main(void)
{
	unsigned char *memory[COUNT];
	int at, round;

	for (round = 0; round < 20; round++) {
		for (at = 0; at < COUNT; at++) {
			memory[at] = map(BYTES);
			CHECK(all(memory[at], BYTES, 0));
			memset(memory[at], at + 1, BYTES);
		}
		for (at = 0; at < COUNT; at++) {
			CHECK(all(memory[at], BYTES, (unsigned char)(at + 1)));
			CHECK(munmap(memory[at], BYTES) == 0);
		}
	}
	puts("ok");
	return 0;
}
