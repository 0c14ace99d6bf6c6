/* Locking all memory does not lock what the pool has in store. */
#include "check.h"

enum { BYTES = 256 * 1024 };

int main(void)
{
	unsigned char *memory = map(BYTES), *more;
	char line[256];
	long kilobytes = -1;
	FILE *file;

	memset(memory, 1, BYTES);
	if (mlockall(MCL_CURRENT) == 0) {
		file = fopen("/proc/self/status", "r");
		CHECK(file != NULL);
		while (fgets(line, sizeof line, file))
			if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1)
				break;
		fclose(file);
		CHECK(kilobytes > 0 && kilobytes < 64 * 1024);
	}
	more = map(BYTES);
	CHECK(all(more, BYTES, 0));
	CHECK(munmap(memory, BYTES) == 0 && munmap(more, BYTES) == 0);
	puts("ok");
	return 0;
}
