import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
});

const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const);
const code = (text: string): string => text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');

describe('the sources of core', () => {
  it.each(sources)('K06 J05 call no function that is faulty in a supported Node: %s', (_, text) => {
    // CVE-2026-21713 and CVE-2026-21710.
    expect(code(text)).not.toMatch(/subtle\s*\.\s*verify|headersDistinct/);
  });

  it.each(sources)('K02 import only each other, and node:crypto in one file: %s', (name, text) => {
    const imports = Array.from(text.matchAll(/(?:from|import\() *'([^']+)'/g), ([, path]) => path!);
    const foreign = imports.filter(
      (path) => !/^(\.\.?\/[a-z./-]+\.js|#hmac|#diagnose)$/.test(path),
    );
    expect(foreign).toEqual(name === 'hmac.node.ts' ? ['node:crypto'] : []);
  });
});

describe('the expressions that a stranger’s text is held against', () => {
  it('J06 take negligible time for 16 kB of any character', async () => {
    // Elsewhere a signature that does not match is explained, which takes its time.
    vi.stubEnv('NODE_ENV', 'production');
    const { createReceiver } = await import('../src/index.js');
    const receiver = createReceiver(
      {
        secret: 'a-secret-of-the-portal',
        logger: { warn: () => undefined, error: () => undefined },
      },
      () => undefined,
    );
    for (const character of ['a', '0', ' ', '\t', '-', 'é', 'identity']) {
      const long = character.repeat(16_384 / character.length);
      // The processor's time, not the clock's: others may keep the machine busy.
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
});
