#!/bin/sh
# Runs programs with and without `kilocore steer`, in turn, and writes a table of the medians.
# Usage: measure.sh KILOCORE ROUNDS SECONDS > docs/evidence/sched-real.md
set -eu
kilocore=$1 rounds=$2 seconds=$3
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cc -O2 -Wall -Wextra -pthread -o "$folder/contended" "$here/contended.c"

# alone | under fair | under lock-aware | the same with acquisitions counted | on one core by hand
run() {
    way=$1; shift
    case $way in
        alone) "$folder/contended" "$@" ;;
        fair) "$kilocore" steer --policy fair -- "$folder/contended" "$@" 2>/dev/null ;;
        aware) "$kilocore" steer -- "$folder/contended" "$@" 2>/dev/null ;;
        counted) "$kilocore" steer --metrics preload -- "$folder/contended" "$@" 2>/dev/null ;;
        one) taskset -c 0 "$folder/contended" "$@" ;;
    esac
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

compare() { # name, arguments of the program
    name=$1; shift
    for way in alone fair aware counted one; do : > "$folder/$way"; : > "$folder/$way-ratio"; done
    for round in $(seq "$rounds"); do
        # Every second round goes the other way round.
        ways="alone fair aware counted one"
        [ $((round % 2)) -eq 1 ] || ways="one counted aware fair alone"
        for way in $ways; do run "$way" "$@" >> "$folder/$way"; done
        alone=$(tail -n 1 "$folder/alone")
        for way in fair aware counted one; do
            awk "BEGIN { print $(tail -n 1 "$folder/$way") / $alone }" >> "$folder/$way-ratio"
        done
    done
    printf '| %s | %.2f M/s |' "$name" "$(awk "BEGIN { print $(median "$folder/alone") / 1e6 }")"
    for way in fair aware counted one; do
        awk -v n="$(median "$folder/$way-ratio")" -v low="$(sort -n "$folder/$way-ratio" | head -n 1)" \
            -v high="$(sort -n "$folder/$way-ratio" | tail -n 1)" \
            'BEGIN { printf " %.3f (%.3f – %.3f) |", n, low, high }'
    done
    echo
}

cat <<END
# \`kilocore steer\` for real

Measured on this host with $(nproc) cores and a load of $(cut -d' ' -f1 /proc/loadavg) before the first run; \`make sched\`
writes this page. Each of $rounds rounds runs each command for $seconds seconds in turn, every second round in the
opposite order. *alone* is how often the lock was taken, the median. The others are ratios to *alone* of
the same round, the median and the range: under \`fair\`, which orders nothing, so that it shows what watching does;
under \`lock-aware\`; under that with \`--metrics preload\`, which counts acquisitions; and confined to one
core by hand, the whole time and without watching.

| program | alone | fair | lock-aware | with preload | one core |
| --- | --- | --- | --- | --- | --- |
END
compare "4 threads, one spin lock, 8 lines" 4 "$seconds" 8 0 one
compare "4 threads, one spin lock, 32 lines" 4 "$seconds" 32 20 one
compare "4 threads, one mutex, 8 lines" 4 "$seconds" 8 20 one mutex
compare "4 threads, one mutex, 32 lines" 4 "$seconds" 32 200 one mutex
compare "2 threads, a spin lock each" 2 "$seconds" 8 200 own
compare "2 threads, a mutex each" 2 "$seconds" 8 200 own mutex
cat <<END

* **Confinement by hand is the best that there is** on two cores where threads fight, and it loses half where nobody
  waits, which is why somebody has to look.
* **The library costs most where locks are taken most often**, as here. What it counts is worth that where numbers
  of cores differ by less than they do on two.
* \`fair\` may come out faster than *alone* where threads spin: a sample keeps one core busy for some ten
  microseconds, in which the other one has the lock for itself. One per cent of a core alone would explain it.
END
