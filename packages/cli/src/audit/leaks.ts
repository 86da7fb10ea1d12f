/** Searches the replies for secrets and stack traces. */
import type { Material } from '@paylink/testing/internal';
import { CAUSES } from './cause.js';
import type { AuditResult } from './result.js';
import type { AuditSession } from './session.js';

const TRACES =
  /\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|\n\s+at [\w.$]+\([\w.]+:\d+\)|goroutine \d+ \[running\]|Stack trace:|\.(?:php|rb|py):\d+/;

export function leaks({ replies, material }: AuditSession): AuditResult[] {
  const secrets = secretsOf(material);
  const judge = (
    name: string,
    cause: 'leaks_secret' | 'leaks_trace',
    isIn: (text: string) => boolean,
  ): AuditResult => {
    const found = replies
      .filter(({ reply }) => isIn(`${reply.bytes.toString('latin1')}\n${reply.body}`))
      .map(({ to }) => to)
      .sort();
    const id = name.slice(0, 3);
    const result = { id, name, passed: true, expected: [], actual: undefined };
    if (found.length === 0) return result;
    const detail = `in ${found.length} replies, first in ${found[0]!}`;
    return { ...result, passed: false, cause, ...CAUSES[cause], detail };
  };
  const isSecret = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  return [
    judge('J01 sends neither the secret nor a signature', 'leaks_secret', isSecret),
    judge('J11 sends no stack trace', 'leaks_trace', (text) => TRACES.test(text)),
  ];
}

function secretsOf({ secret, signature, body, mac }: Material): string[] {
  const text = Buffer.from(secret).toString('latin1');
  // Any text may contain a short secret.
  return [signature, mac(body, 'another secret'), ...(text.length < 8 ? [] : [text])];
}
