import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import type { AuditReport } from '../../packages/cli/src/audit/report.js';
import { describe, expect, it, vi } from 'vitest';
import { describeCauses, severeCauses } from './audits.js';
import { BODY_LIMIT, listen, SECRET } from './hand-written.js';
import { receivers, type ReceiverUnderAudit } from './receivers-under-audit.js';

// Few at a time, because the receivers run in the same process.
vi.setConfig({ testTimeout: 60_000, maxConcurrency: 3 });

/** Longer than the receivers' limit for a slow body, even on a busy machine. */
const SLOW = 4_000;

async function audit({ listener }: ReceiverUnderAudit): Promise<AuditReport> {
  const { url, close } = await listen(listener());
  // Many audits share one process with their receivers, so answers are slow.
  const options = {
    url,
    secret: SECRET,
    bodyLimit: BODY_LIMIT,
    timeout: SLOW,
    firstAnswer: 15_000,
  };
  try {
    return await auditReceiver(options);
  } finally {
    await close();
  }
}

describe.concurrent('auditReceiver', () => {
  it.each(receivers)(
    'names exactly the causes of a receiver that is $name',
    { tags: 'R06' },
    async (under) => {
      const report = await audit(under);
      const described = describeCauses(report).join('\n');
      expect(severeCauses(report), described).toEqual([...under.causes].sort());
    },
  );

  // The test is skipped on machines without Python.
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  if (!hasPython && process.env['CI'] !== undefined) throw new Error('python3 is missing');
  it.skipIf(!hasPython)(
    'reports only the missing deadline and concurrency of a correct receiver on Python',
    async () => {
      const script = fileURLToPath(new URL('python-receiver.py', import.meta.url));
      const python = spawn('python3', [script, SECRET], { stdio: ['ignore', 'pipe', 'ignore'] });
      try {
        const [port] = (await once(python.stdout, 'data')) as [Buffer];
        const url = `http://127.0.0.1:${port.toString().trim()}/hook`;
        const report = await auditReceiver({ url, secret: SECRET, timeout: 1_500 });
        expect(report.framework).toBe('Python http.server');
        const described = describeCauses(report).join('\n');
        expect(severeCauses(report), described).toEqual(['no_deadline', 'one_at_a_time']);
        expect(report.complete).toBe(true);
      } finally {
        python.kill('SIGKILL');
      }
    },
  );
});
