import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import type { AuditReport } from '../../packages/cli/src/audit/report.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PATH } from '../adapters/deliveries.js';
import { gateHosts, oneOfEach } from '../adapters/hosts/index.js';

const SECRET = 'a-secret-of-the-receivers-under-audit';
const BODY_LIMIT = 16_384;

/** Formats the findings for a failure message. */
function named({ findings }: AuditReport): string[] {
  return findings.map(
    ({ name, actual, detail, expected }) =>
      `${name}: ${detail ?? ''} ${actual} in place of ${expected.join()}`,
  );
}

// Outside production, each refusal is diagnosed.
beforeAll(() => void vi.stubEnv('NODE_ENV', 'production'));
afterAll(() => void vi.unstubAllEnvs());

describe.each([...oneOfEach, ...gateHosts])('$name', (host) => {
  it('passes the audit without findings and notes', async () => {
    const references: string[] = [];
    const record = ({ reference }: { readonly reference: string }): number =>
      references.push(reference);
    const listening = await host.listen({
      options: {
        secret: SECRET,
        bodyLimit: BODY_LIMIT,
        bodyTimeout: 400,
      },
      handler: record,
      onHostError: () => undefined,
    });
    try {
      const report = await auditReceiver({
        url: `http://127.0.0.1:${listening.port}${PATH}`,
        secret: SECRET,
        bodyLimit: BODY_LIMIT,
      });
      expect(named(report)).toEqual([]);
      expect(report.notes.map(({ note }) => note)).toEqual([]);
      expect(report.passed).toBe(true);
      expect(report.results.length).toBeGreaterThan(180);
      // Every genuine delivery has the audit's own order, or a reference that names the audit.
      expect(references.length).toBeGreaterThan(0);
      expect(references.filter((reference) => !reference.includes('paylink-audit'))).toEqual([]);
    } finally {
      await listening.close();
    }
  }, 60_000);
});
