import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleScript, type Bundle } from '../servers/bundle.js';
import { Child } from './child.js';
import { BODY, genuine, head } from './deliveries.js';
import { oneOfEach, readers } from './hosts/index.js';
import { expectAcknowledged, within } from './serving.js';
import { expectNoSecretIn } from './watch.js';
import { begin, closeWires, Wire } from './wire.js';

let script: Bundle;
beforeAll(async () => {
  script = await bundleScript(new URL('serve-host.ts', import.meta.url));
});
afterAll(() => script.remove());

let child: Child;
afterEach(async () => {
  closeWires();
  await child.kill();
  expectNoSecretIn(child.output);
});

describe.each(oneOfEach)('$name', (host) => {
  it(
    'finishes the handler on SIGTERM, acknowledges, accepts no new connection, and exits',
    { tags: 'G10' },
    async () => {
      child = new Child(script.path, host.name);
      const port = await child.told('port');
      const wire = await begin(port, genuine('order-slow'));
      expect(await child.told('handling')).toBe('order-slow');
      child.terminate();
      expectAcknowledged(await wire.reply());
      wire.finish();
      expect(await child.told('handled')).toBe('order-slow');
      expect(await within(3_000, 'the end of the process', child.exit())).toBe(0);
      await expect(Wire.open(port)).rejects.toThrow();
    },
  );

  it(
    'acknowledges no delivery that a crash of the process interrupts',
    { tags: 'G11' },
    async () => {
      child = new Child(script.path, host.name);
      const wire = await begin(await child.told('port'), genuine('order-crash'));
      expect(await child.told('handling')).toBe('order-crash');
      await expect(wire.reply()).rejects.toThrow(/closed by/);
      expect(await child.exit()).not.toBe(0);
    },
  );

  it('throws nothing, not even a caught error, during a genuine delivery', async () => {
    child = new Child(script.path, host.name);
    const port = await child.told('port');
    // The first delivery loads the code that the others use.
    expectAcknowledged(await (await begin(port, genuine('order-quick'))).reply());
    expect(await child.exceptions()).toEqual([]);
    expectAcknowledged(await (await begin(port, genuine('order-quick'))).reply());
    expect(await child.exceptions()).toEqual([]);
    expect(
      (await (await begin(port, head(BODY, { lines: [['X-Service-Signature', 'none']] }))).reply())
        .status,
    ).toBe(401);
    expect(await child.exceptions()).not.toEqual([]);
  });
});

describe.each(readers)('$name', (host) => {
  const SENDERS = 250;
  const LIMIT = 8_192;
  const PIECE = 128;

  it(
    'buffers small pieces of 250 slow senders in little more memory than their bytes',
    { tags: 'D11' },
    async ({ annotate }) => {
      child = new Child(script.path, host.name, LIMIT);
      const port = await child.told('port');
      // Sends the heads first, so that all requests exist before the measurement.
      const opened = head(BODY, { framing: LIMIT, lines: [['Expect', '100-continue']] });
      const opening = await Promise.all(Array.from({ length: SENDERS }, () => begin(port, opened)));
      for (const wire of opening) expect((await wire.reply()).status).toBe(100);
      const before = await child.memory();
      const piece = Buffer.alloc(PIECE, ' ');
      // Leaves out the last piece, so that each stays open. Each piece is read before the next.
      for (let sent = PIECE; sent < LIMIT; sent += PIECE) {
        for (const wire of opening) void wire.write(piece);
        await child.turn();
      }
      const probe = await begin(port, genuine('order-quick'));
      expectAcknowledged(await probe.reply());
      const after = await child.memory();
      const bytes = SENDERS * (LIMIT - PIECE);
      const live = (after.live - before.live) / bytes;
      const resident = (after.rss - before.rss) / SENDERS;
      await annotate(
        `for each byte of ${bytes}: ${live.toFixed(1)} bytes live; for each sender ${(resident / 1_000).toFixed(0)} kB resident`,
      );
      // One Buffer per piece would take two and a half. One growing buffer takes one.
      expect(live).toBeLessThan(1.8);
      // Includes the reserve of the native allocator, which varies between runs.
      expect(resident).toBeLessThan(75_000);
    },
  );
});
