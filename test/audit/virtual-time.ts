/** Runs an audit whose limits do not depend on the machine's load. */
import { setImmediate as turn } from 'node:timers/promises';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import { vi } from 'vitest';

/**
 * Advances time by turns of the event loop, of which a busy machine needs no more than an idle one.
 */
export const auditInVirtualTime: typeof auditReceiver = async (options) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    let isOver = false;
    const running = auditReceiver(options).finally(() => (isOver = true));
    while (!isOver) {
      for (let turns = 0; turns < 20; turns++) await turn();
      vi.advanceTimersByTime(10);
    }
    return await running;
  } finally {
    vi.useRealTimers();
  }
};
