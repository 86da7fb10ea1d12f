import { describe, expect, it } from 'vitest';
import { BODY, chunk, genuine, head, post, REFERENCE } from './deliveries.js';
import { holdLimits } from './held-limits.js';
import { newestHosts } from './hosts/index.js';
import {
  expectAccepted,
  expectAcknowledged,
  expectEnded,
  expectRefused,
  noConnections,
  references,
  serve,
} from './serving.js';
import { begin, exchange, type Wire } from './wire.js';

const LIMIT = 65_536;
const BODY_TIMEOUT = 7_000;
/** Milliseconds that a receiver gives a sender to read its reply. */
const LINGER = 1_000;

describe.each(newestHosts)('$name', (host) => {
  it(
    'answers 408 and closes if the rest of a body never comes, also after 100 Continue',
    { tags: ['D06', 'D16'] },
    async () => {
      const serving = await serve(host, { options: { bodyTimeout: BODY_TIMEOUT } });
      using limits = holdLimits(BODY_TIMEOUT, LINGER);
      const toldToContinue = await begin(
        serving.port,
        head(BODY, { lines: [['Expect', '100-continue']] }),
      );
      expect((await toldToContinue.reply()).status).toBe(100);
      const wires = [
        toldToContinue,
        await begin(serving.port, head(BODY)),
        await begin(serving.port, post(BODY, { framing: BODY.length + 1 })),
        await begin(serving.port, head(BODY, { framing: 'chunked' })),
        // The whole signed body has arrived, without its last chunk.
        await begin(serving.port, Buffer.concat([head(BODY, { framing: 'chunked' }), chunk(BODY)])),
      ];
      await limits.running(BODY_TIMEOUT, wires.length);
      limits.pass(BODY_TIMEOUT);
      const replies = await Promise.all(wires.map((wire) => wire.reply()));
      for (const reply of replies) expectRefused(reply, 408, 'body_timeout');
      limits.release(LINGER);
      await Promise.all(wires.map((wire, index) => expectEnded(host, replies[index]!, wire)));
      expect(serving.events).toEqual([]);
      await noConnections(serving);
    },
  );

  it(
    'gives the whole body one deadline, even if it trickles steadily',
    { tags: 'D10' },
    async () => {
      const serving = await serve(host, { options: { bodyTimeout: BODY_TIMEOUT } });
      using limits = holdLimits(BODY_TIMEOUT, LINGER);
      const wire = await begin(serving.port, head(BODY, { framing: 'chunked' }));
      const deadline = await limits.running(BODY_TIMEOUT, 1);
      for (let piece = 0; piece < 10; piece++) {
        await wire.send(chunk(Buffer.from('n')));
        // The answer shows that the server has read all earlier bytes.
        const { wire: beside, ...reply } = await exchange(serving.port, genuine('order-beside'));
        expectAcknowledged(reply);
        beside.destroy();
        expect((await limits.running(BODY_TIMEOUT, 1))[0]).toBe(deadline[0]);
      }
      limits.pass(BODY_TIMEOUT);
      const reply = await wire.reply();
      expectRefused(reply, 408, 'body_timeout');
      limits.release(LINGER);
      await expectEnded(host, reply, wire);
      await noConnections(serving);
      expect(new Set(references(serving))).toEqual(new Set(['order-beside']));
    },
  );

  it(
    'serves others beside many slow senders, and then closes the slow connections',
    { tags: 'D11' },
    async () => {
      const serving = await serve(host, { options: { bodyTimeout: BODY_TIMEOUT } });
      using limits = holdLimits(BODY_TIMEOUT, LINGER);
      const slow = await Promise.all(
        Array.from({ length: 50 }, () =>
          begin(serving.port, head(BODY, { framing: LIMIT }), BODY.subarray(0, 5)),
        ),
      );
      await limits.running(BODY_TIMEOUT, slow.length);
      await expectAccepted(serving, post());
      await limits.running(BODY_TIMEOUT, slow.length);
      limits.pass(BODY_TIMEOUT);
      for (const reply of await Promise.all(slow.map((wire) => wire.reply())))
        expectRefused(reply, 408, 'body_timeout');
      limits.release(LINGER);
      await Promise.all(slow.map((wire) => wire.closed()));
      expect(references(serving)).toEqual([REFERENCE]);
    },
  );

  it('closes connections with an impossible signature', { tags: 'D11' }, async () => {
    const serving = await serve(host);
    using limits = holdLimits(LINGER);
    const guess = (): Promise<Wire> =>
      begin(serving.port, head(BODY, { framing: LIMIT, signature: 'guess' }));
    const wires = await Promise.all(Array.from({ length: 20 }, guess));
    for (const reply of await Promise.all(wires.map((wire) => wire.reply())))
      expectRefused(reply, 401, 'invalid_signature');
    limits.release(LINGER);
    await Promise.all(wires.map((wire) => wire.closed()));
  });
});
