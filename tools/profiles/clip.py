"""Writes a y4m clip of a moving gradient with noise on standard output: WIDTH HEIGHT FRAMES."""

import random
import sys

width, height, frames = map(int, sys.argv[1:])
chance = random.Random(1)
out = sys.stdout.buffer
out.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n" % (width, height))
rows = [bytes((i * 7 + j * 3) % 256 for i in range(width)) for j in range(height)]
grey = bytes([128]) * (width * height // 2)
for frame in range(frames):
    shift = frame * 3 % width
    luma = bytearray(b"".join(row[shift:] + row[:shift] for row in rows))
    for _ in range(width * height // 8):
        luma[chance.randrange(width * height)] = chance.randrange(256)
    out.write(b"FRAME\n")
    out.write(luma)
    out.write(grey)
