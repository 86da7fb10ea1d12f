/** An audit whose limits do not depend on how busy the machine is. */
import { setImmediate as turn } from 'node:timers/promises';
import { auditReceiver, type AuditOptions, type AuditReport } from '@paylink/testing';
import { vi } from 'vitest';

/**
 * Lets time pass by the turns of the event loop, of which a busy machine takes no more than an idle
 * one.
 */
export async function auditInVirtualTime(options: AuditOptions): Promise<AuditReport> {
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
}
