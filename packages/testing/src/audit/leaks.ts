/** Searches the replies for secrets and stack traces. */
import type { Material, Severity } from '../attacks/attack.js';
import type { CauseId } from './causes.js';
import type { AuditSession } from './session.js';
import type { AuditResult } from './report.js';

const TRACES =
  /\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|\n\s+at [\w.$]+\([\w.]+:\d+\)|goroutine \d+ \[running\]|Stack trace:|\.(?:php|rb|py):\d+/;

export function leaks({ replies, material }: AuditSession): AuditResult[] {
  const texts = replies.map(({ to, reply }) => ({
    to,
    text: `${reply.bytes.toString('latin1')}\n${reply.body}`,
  }));
  const search = (found: (text: string) => boolean): string[] =>
    texts.flatMap(({ to, text }) => (found(text) ? [to] : [])).sort();
  const secrets = secretsOf(material);
  return [
    leak(
      'J01',
      'sends neither the secret nor a signature',
      'sent the secret or a signature',
      search((text) => secrets.some((secret) => text.includes(secret))),
      {
        severity: 'critical',
        cause: 'leaks_secret',
      },
    ),
    leak(
      'J11',
      'sends no stack trace',
      'sent a stack trace',
      search((text) => TRACES.test(text)),
      {
        severity: 'medium',
        cause: 'leaks_trace',
      },
    ),
  ];
}

function secretsOf({ secret, signature, body, mac }: Material): string[] {
  const text = Buffer.from(secret).toString('latin1');
  // Any text may contain a short secret.
  return [signature, mac(body, 'another secret'), ...(text.length < 8 ? [] : [text])];
}

interface LeakTraits {
  readonly severity: Severity;
  readonly cause: CauseId;
}

function leak(
  id: string,
  should: string,
  did: string,
  found: readonly string[],
  traits: LeakTraits,
): AuditResult {
  const { severity, cause } = traits;
  const result = {
    id,
    name: `${id} ${should}`,
    expected: [],
    actual: undefined,
    durationMs: 0,
  };
  if (found.length === 0) return { ...result, passed: true };
  return {
    ...result,
    passed: false,
    severity,
    cause,
    title: did,
    detail: `in ${found.length} replies, first in ${found[0]!}`,
  };
}
