// Workers that share a lock made of Atomics, or (HOLD 0) nothing.
const { Worker, isMainThread, workerData } = require('worker_threads');

function compute(value, steps) {
  for (let step = 0; step < steps; step++) {
    value ^= value << 13;
    value ^= value >>> 17;
    value ^= value << 5;
  }
  return value;
}

if (isMainThread) {
  const [threads, sections, hold, think] = process.argv.slice(2).map(Number);
  const memory = new SharedArrayBuffer(8);
  for (let number = 0; number < threads; number++)
    new Worker(__filename, { workerData: { memory, number, threads, sections, hold, think } });
} else {
  const { memory, number, threads, sections, hold, think } = workerData;
  const words = new Int32Array(memory); // 0: the lock, 1: what is shared
  let own = number + 1;
  for (let each = 0; each < sections / threads; each++) {
    own = compute(own, think);
    if (hold === 0) continue;
    if (Atomics.compareExchange(words, 0, 0, 1) !== 0)
      while (Atomics.exchange(words, 0, 2) !== 0) Atomics.wait(words, 0, 2);
    words[1] = compute(words[1] + (own & 1), hold);
    if (Atomics.exchange(words, 0, 0) === 2) Atomics.notify(words, 0, 1);
  }
  if (own === 0) console.log(own);
}
