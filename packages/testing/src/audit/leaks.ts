/** Searches the replies for secrets and stack traces. */
import type { Material } from '../attacks/attack.js';
import { resultOf, type AuditResult } from './result.js';
import type { AuditSession } from './session.js';

const TRACES =
  /\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|\n\s+at [\w.$]+\([\w.]+:\d+\)|goroutine \d+ \[running\]|Stack trace:|\.(?:php|rb|py):\d+/;

export function leaks({ replies, material }: AuditSession): AuditResult[] {
  const secrets = secretsOf(material);
  const search = (title: string, isIn: (text: string) => boolean) => {
    const found = replies
      .filter(({ reply }) => isIn(`${reply.bytes.toString('latin1')}\n${reply.body}`))
      .map(({ to }) => to)
      .sort();
    if (found.length === 0) return undefined;
    return { title, detail: `in ${found.length} replies, first in ${found[0]!}` };
  };
  const isSecret = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const secret = search('sent the secret or a signature', isSecret);
  const trace = search('sent a stack trace', (text) => TRACES.test(text));
  return [
    resultOf('J01', 'sends neither the secret nor a signature', 'leaks_secret', secret),
    resultOf('J11', 'sends no stack trace', 'leaks_trace', trace),
  ];
}

function secretsOf({ secret, signature, body, mac }: Material): string[] {
  const text = Buffer.from(secret).toString('latin1');
  // Any text may contain a short secret.
  return [signature, mac(body, 'another secret'), ...(text.length < 8 ? [] : [text])];
}
