/** Ways to run an audit and to show its report. */
import { setImmediate as turn } from 'node:timers/promises';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import type { AuditReport } from '../../packages/cli/src/audit/report.js';
import { vi } from 'vitest';
import { SECRET } from './hand-written.js';

type Options = Parameters<typeof auditReceiver>[0];
type Progress = Parameters<NonNullable<Options['onProgress']>>[0];

/** Ends the audit as soon as its progress is enough. */
export function auditUntil(
  isEnough: (progress: Progress) => boolean,
  options: Omit<Options, 'secret'>,
): Promise<AuditReport> {
  const enough = new AbortController();
  const onProgress = (progress: Progress): void => {
    if (isEnough(progress)) enough.abort();
  };
  return auditReceiver({ secret: SECRET, ...options, signal: enough.signal, onProgress });
}

/**
 * Runs an audit whose limits do not depend on the machine's load. Advances time by turns of the
 * event loop, of which a busy machine needs no more than an idle one.
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

/** Returns the ids of the critical, high and medium causes. */
export function severeCauses({ causes }: AuditReport): string[] {
  return causes
    .filter(({ severity }) => severity !== 'low')
    .map(({ id }) => id)
    .sort();
}

/** Describes each cause for a failure message. */
export function describeCauses({ causes }: AuditReport): string[] {
  return causes.map(
    ({ id, severity, evidence, symptoms, fix }) =>
      `${severity} ${id} (${symptoms}): ${evidence.join('; ')} – ${fix}`,
  );
}
