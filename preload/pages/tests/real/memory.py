"""Uses much memory in threads and in forked children, and prints a sum."""
import mmap
import os
import threading
import zlib

sums = [0] * 4


def work(own):
    for round in range(150):
        block = bytearray(200_000 + round)
        assert not any(block[::997])
        block[::2] = bytes([own]) * len(block[::2])
        area = mmap.mmap(-1, 256 * 1024, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        assert area[:1024] == bytes(1024)
        area.write(bytes(block[:1000]))
        sums[own] += zlib.crc32(block) % 1000 + area[0]
        area.close()
        if round % 50 == 0:
            child = os.fork()
            if child == 0:
                more = bytearray(500_000)
                os._exit(any(more[::997]) or block[0] != own)
            assert os.waitpid(child, 0)[1] == 0


threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(sums))
