#!/bin/sh
# Runs programs with and without `kilocore sched`, in turn, and writes a table of the medians.
# Usage: measure.sh KILOCORE ROUNDS SECONDS > docs/sched-real.md
set -eu
kilocore=$1 rounds=$2 seconds=$3
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cc -O2 -Wall -Wextra -pthread -o "$folder/contended" "$here/contended.c"

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

compare() { # name, arguments of the program
    name=$1; shift
    : > "$folder/without"; : > "$folder/fair"; : > "$folder/aware"; : > "$folder/ratio"; : > "$folder/cost"
    for round in $(seq "$rounds"); do
        w=$("$folder/contended" "$@"); f=$("$kilocore" sched --policy fair -- "$folder/contended" "$@" 2>/dev/null)
        a=$("$kilocore" sched --policy lock-aware -- "$folder/contended" "$@" 2>/dev/null)
        echo "$w" >> "$folder/without"; echo "$f" >> "$folder/fair"; echo "$a" >> "$folder/aware"
        awk "BEGIN { print $a / $w }" >> "$folder/ratio"; awk "BEGIN { print $f / $w }" >> "$folder/cost"
    done
    printf '| %s | %s | %s | %s | %.3f | %.3f |\n' "$name" "$(median "$folder/without")" \
        "$(median "$folder/fair")" "$(median "$folder/aware")" "$(median "$folder/cost")" \
        "$(median "$folder/ratio")"
}

cat <<END
# \`kilocore sched\` for real

Measured on this host with $(nproc) cores and a load of $(cut -d' ' -f1 /proc/loadavg) before the first run;
medians of $rounds rounds of $seconds seconds, in which each command has its turn; \`make sched\` writes this page. Figures
are acquisitions a second; ratios are medians of the rounds' ratios. \`fair\` orders nothing, so its ratio is what watching
costs.

| program | alone | fair | lock-aware | fair/alone | lock-aware/alone |
| --- | --- | --- | --- | --- | --- |
END
compare "4 threads, one spin lock, 8 lines" 4 "$seconds" 8 0 one
compare "4 threads, one spin lock, 32 lines" 4 "$seconds" 32 20 one
compare "2 threads, a spin lock each" 2 "$seconds" 8 200 own
