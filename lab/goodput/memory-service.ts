import { sleep, type Service } from './load.js';

/** A service in this process, which answers after `latency`, and `limit` questions a second. */
export function openMemoryService(latency: number, limit = Infinity): Service {
  let [asked, windowEnd, left] = [0, 0, 0];
  return {
    questions: () => asked,
    client: (statusOf) => ({
      async getPayment(reference) {
        asked++;
        const now = performance.now();
        if (now >= windowEnd) [windowEnd, left] = [now + 1_000, limit];
        const isRefused = left-- <= 0;
        const retryAfter = 1_000 * Math.ceil((windowEnd - now) / 1_000);
        await sleep(latency);
        if (isRefused) throw Object.assign(new Error('429'), { status: 429, retryAfter });
        return { reference, status: statusOf(reference), amount: 1_000, currency: 'XOF' };
      },
    }),
  };
}
