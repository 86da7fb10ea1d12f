/** Measures the processor's time, not the clock's: others may keep the machine busy. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { diagnose } from '../src/diagnose.js';
import { createReceiver } from '../src/index.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

const SECRET = 'a-webhook-secret-of-some-length';

describe('the expressions that a stranger’s text is held against', { tags: 'J06' }, () => {
  it('take negligible time for 16 kB of any character', async () => {
    // Elsewhere a signature that does not match is explained, which takes its time.
    vi.stubEnv('NODE_ENV', 'production');
    const receiver = createReceiver(
      {
        secret: SECRET,
        logger: { warn: () => undefined, error: () => undefined },
      },
      () => undefined,
    );
    for (const character of ['a', '0', ' ', '\t', '-', 'é', 'identity']) {
      const long = character.repeat(16_384 / character.length);
      const before = process.cpuUsage();
      for (let round = 0; round < 20; round++) {
        const headers: Record<string, string> = {
          'x-service-signature': round % 2 === 0 ? long : '0'.repeat(64),
          'content-encoding': `${long}x`,
          'x-service-event': long,
        };
        await receiver.receive(
          { header: (name) => headers[name], body: () => Promise.resolve(Buffer.from('{}')) },
          {},
        );
      }
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 20).toBeLessThan(1_000);
    }
  });

  it('need no extra time for 60,000 equal characters', async () => {
    for (const [character, other] of [
      [' ', 'x'],
      ['0', ' '],
      ['a', 'g'],
    ] as const) {
      const started = process.cpuUsage();
      const signature = other + character.repeat(16_000) + other;
      const rawBody = other + character.repeat(60_000) + other;
      await diagnose({ rawBody: '{}', signature, secret: SECRET });
      await diagnose({ rawBody, signature: '0'.repeat(64), secret: SECRET });
      const { user, system } = process.cpuUsage(started);
      expect(user + system).toBeLessThan(2_000_000);
    }
  });
});
