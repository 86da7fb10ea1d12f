import { describe, expect, it } from 'vitest';
import { BODY, chunk, head, post, REFERENCE } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { eventually, expectAcknowledged, expectEnded, expectRefused, references, serve } from './serving.js';
import { begin, exchange, type Wire } from './wire.js';

const LIMIT = 65_536;
/** Far over what a slow test machine needs, far under the 300 s of Node. */
const SOON = 1_500;

describe.each(hosts)('$name', (host) => {
  it('D06 D16 answers 408 when the rest of a body never comes, also to a sender that was told to continue, and closes', async () => {
    const serving = await serve(host, { options: { bodyTimeout: 150 } });
    const started = performance.now();
    const answered = async (request: Buffer, toldToContinue = false): Promise<void> => {
      const wire = await begin(serving.port, request);
      if (toldToContinue) expect((await wire.reply()).status).toBe(100);
      const reply = await wire.reply();
      expectRefused(reply, 408, 'body_timeout');
      await expectEnded(host, reply, wire);
    };
    await Promise.all([
      answered(head(BODY)),
      answered(head(BODY, { lines: [['Expect', '100-continue']] }), true),
      answered(post(BODY, { framing: BODY.length + 1 })),
      answered(head(BODY, { framing: 'chunked' })),
      // The whole body is there, and signed; only its last chunk is not.
      answered(Buffer.concat([head(BODY, { framing: 'chunked' }), chunk(BODY)])),
    ]);
    expect(performance.now() - started).toBeGreaterThan(140);
    expect(performance.now() - started).toBeLessThan(SOON);
    expect(serving.events).toEqual([]);
    await eventually('the end of the connections', async () => (await serving.connections()) === 0);
  });

  it('D10 gives the whole body one deadline, however steadily it trickles', async () => {
    const serving = await serve(host, { options: { bodyTimeout: 200 } });
    const started = performance.now();
    const wire = await begin(serving.port, head(BODY, { framing: 'chunked' }));
    const trickle = setInterval(() => void wire.send(chunk(Buffer.from('n'))), 20);
    try {
      const reply = await wire.reply();
      expectRefused(reply, 408, 'body_timeout');
      expect(performance.now() - started).toBeLessThan(SOON);
      await expectEnded(host, reply, wire);
      await eventually('the end of the connection', async () => (await serving.connections()) === 0);
    } finally {
      clearInterval(trickle);
    }
    expect(serving.events).toEqual([]);
  });

  it('D11 serves others while 200 slow senders hold their connections, and lets none of them stay', async () => {
    const serving = await serve(host, { options: { bodyTimeout: SOON } });
    const slow = await Promise.all(
      Array.from({ length: 200 }, () => begin(serving.port, head(BODY, { framing: LIMIT }), BODY.subarray(0, 5))),
    );
    await eventually('200 connections', async () => (await serving.connections()) >= 200);
    const started = performance.now();
    expectAcknowledged(await exchange(serving.port, post()));
    expect(performance.now() - started).toBeLessThan(SOON);
    for (const reply of await Promise.all(slow.map((wire) => wire.reply()))) expectRefused(reply, 408, 'body_timeout');
    await Promise.all(slow.map((wire) => wire.closed()));
    expect(references(serving)).toEqual([REFERENCE]);
  });

  it('D11 keeps no connection whose signature header cannot be right', async () => {
    const serving = await serve(host);
    const guess = (): Promise<Wire> => begin(serving.port, head(BODY, { framing: LIMIT, signature: 'guess' }));
    const wires = await Promise.all(Array.from({ length: 50 }, guess));
    for (const reply of await Promise.all(wires.map((wire) => wire.reply()))) expectRefused(reply, 401, 'invalid_signature');
    await Promise.all(wires.map((wire) => wire.closed()));
  });
});
