const BATCH_MS = 1;

/**
 * Returns a function that runs a call for some milliseconds, and returns the microseconds of CPU
 * time per call. Other work on the machine disturbs CPU time less than the clock.
 */
export async function createSlice(
  call: () => unknown,
  milliseconds: number,
): Promise<() => Promise<number>> {
  // A synchronous call must not pay for an await.
  const runBatch = isPromise(call()) ? awaitEach : callEach;
  let batch = 1;
  while ((await timeOf(() => runBatch(call, batch))) < BATCH_MS) batch *= 2;

  return async () => {
    let calls = 0;
    let elapsed = 0;
    const started = performance.now();
    const before = process.cpuUsage();
    while (elapsed < milliseconds) {
      const pending = runBatch(call, batch);
      if (pending !== undefined) await pending;
      calls += batch;
      elapsed = performance.now() - started;
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  };
}

function callEach(call: () => unknown, times: number): undefined {
  for (let count = 0; count < times; count++) call();
}

async function awaitEach(call: () => unknown, times: number): Promise<void> {
  for (let count = 0; count < times; count++) await call();
}

async function timeOf(run: () => unknown): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}
