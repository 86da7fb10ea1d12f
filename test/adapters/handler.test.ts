import { memoryStore, WebhookError } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { BODY, genuine, post, REFERENCE } from './deliveries.js';
import { handlerHosts, hosts } from './hosts/index.js';
import { eventually, expectAcknowledged, expectRefused, references, serve } from './serving.js';
import { log } from './watch.js';
import { begin, exchange } from './wire.js';

class OutOfStock extends Error {}

/** What is thrown, as JavaScript lets anything be thrown. Express takes some of these for words of its own. */
const oddities: readonly unknown[] = [
  'a text',
  'route',
  'router',
  undefined,
  null,
  0,
  '',
  false,
  { status: 200 },
  Object.create(null),
];

function hanging(): Promise<never> {
  return new Promise<never>(() => undefined);
}

describe.each(hosts)('$name', (host) => {
  const { failure } = host.capabilities;

  it.each([
    [
      'at once',
      () => {
        throw new OutOfStock('sold');
      },
    ],
    [
      'later',
      async () => {
        await Promise.resolve();
        throw new OutOfStock('sold');
      },
    ],
    [
      'after a turn of the event loop',
      () =>
        new Promise((_, reject) =>
          setTimeout(() => {
            reject(new OutOfStock('sold'));
          }, 5),
        ),
    ],
  ])('lets the host answer what is thrown %s, and tells it the very error (G01)', async (_when, handler) => {
    const serving = await serve(host, { handler });
    const { status, body } = await exchange(serving.port, post());
    expect([status, body]).toEqual([500, failure]);
    expect(serving.errors).toEqual([expect.any(OutOfStock)]);
    expect(references(serving)).toEqual([REFERENCE]);
  });

  it.each([204, 302, 500, 200, 422])('leaves alone an answer that the handler itself sends, with %i (G08, G04)', async (status) => {
    const serving = await serve(host, {
      handler: (_event, { respond }) => respond(status, { 'content-length': '0', 'x-merchant': 'yes', location: '/' }),
    });
    const wire = await begin(serving.port, post());
    const reply = await wire.reply();
    expect([reply.status, reply.body, reply.headers.get('x-merchant')]).toEqual([status, '', 'yes']);
    // A second reply would stand before this one.
    await wire.send(genuine('order-next'));
    expect((await wire.reply()).status).toBe(status);
    expect(serving.errors).toEqual([]);
  });

  it('finishes the handler when the sender goes away (G07)', async () => {
    let resume: (() => void) | undefined;
    let credited = 0;
    const serving = await serve(host, {
      handler: async () => {
        await new Promise<void>((resolve) => (resume = resolve));
        credited += 1;
      },
    });
    for (const leave of ['finish', 'reset'] as const) {
      const wire = await begin(serving.port, post());
      await eventually('the handler', () => resume !== undefined);
      wire[leave]();
      await eventually('the end of the connection', async () => (await serving.connections()) === 0);
      resume!();
      resume = undefined;
      await eventually('the credit', () => credited === (leave === 'finish' ? 1 : 2));
    }
    expect(serving.errors).toEqual([]);
  });

  it('answers the retry of a delivery that failed after its credit, and finds the order credited (G09)', async () => {
    const paid = new Set<string>();
    let credits = 0;
    const serving = await serve(host, {
      handler: ({ reference }) => {
        if (paid.has(reference)) return;
        paid.add(reference);
        credits += 1;
        throw new OutOfStock('after the credit');
      },
    });
    expect((await exchange(serving.port, post())).status).toBe(500);
    expectAcknowledged(await exchange(serving.port, post()));
    expect(credits).toBe(1);
  });

  it('loses no delivery while a handler blocks the event loop (G13)', async () => {
    const serving = await serve(host, {
      handler: ({ reference }) => {
        if (reference !== 'order-blocking') return;
        for (const end = performance.now() + 400; performance.now() < end;);
      },
    });
    const before = await Promise.all(Array.from({ length: 5 }, () => begin(serving.port, post().subarray(0, -5))));
    const [blocking, ...others] = await Promise.all([
      exchange(serving.port, genuine('order-blocking')),
      ...before.map(async (wire) => {
        await wire.send(BODY.subarray(-5));
        return wire.reply();
      }),
      ...Array.from({ length: 5 }, () => exchange(serving.port, post())),
    ]);
    for (const reply of [blocking, ...others]) expectAcknowledged(reply);
    expect(serving.events).toHaveLength(11);
  });
});

describe.each(handlerHosts)('$name', (host) => {
  const { failure } = host.capabilities;

  it('wraps what is thrown and no Error in one, with it as the cause (G01)', async () => {
    for (const thrown of oddities) {
      for (const handler of [
        () => {
          throw thrown;
        },
        async () => {
          await Promise.resolve();
          throw thrown;
        },
      ]) {
        const serving = await serve(host, { handler });
        const { status, body } = await exchange(serving.port, post());
        expect([status, body]).toEqual([500, failure]);
        expect(serving.errors).toEqual([expect.any(Error)]);
        expect((serving.errors[0] as Error).cause).toBe(thrown);
      }
    }
  });

  it.each([
    ['unknown_order', 503, 503],
    ['order_closed', 409, 409],
    ['some_code', undefined, 500],
    ['payment_pending', undefined, 503],
  ])('answers a WebhookError of the handler with its own code %s and status (G01)', async (code, status, expected) => {
    const serving = await serve(host, {
      handler: () => {
        throw new WebhookError(code, { status, message: 'for the log' });
      },
    });
    expectRefused(await exchange(serving.port, post()), expected, code);
    expect(serving.errors).toEqual([]);
  });

  it.each(['at once', 'later'])('takes an Error that the handler returns %s for thrown, and marks nothing (G01)', async (when) => {
    let returned: Error | undefined;
    const serving = await serve(host, {
      options: { idempotency: memoryStore() },
      handler: () => (when === 'later' ? Promise.resolve(returned) : returned),
    });
    returned = new WebhookError('unknown_order', { status: 503, message: 'for the log' });
    expectRefused(await exchange(serving.port, post()), 503, 'unknown_order');
    returned = new Error('for the log');
    const { status, body } = await exchange(serving.port, post());
    expect([status, body]).toEqual([500, failure]);
    expect(serving.errors).toEqual([returned]);
    returned = undefined;
    expect((await exchange(serving.port, post())).status).toBe(200);
  });

  it('takes a Response that is not 2xx, of a service that the handler called, for no success, and marks nothing (G01)', async () => {
    let answer = new Response(null, { status: 503 });
    const serving = await serve(host, { options: { idempotency: memoryStore() }, handler: () => Promise.resolve(answer) });
    const { status } = await exchange(serving.port, post());
    // Where replies are Responses, it is the reply.
    if (status !== 503) {
      expect(status).toBe(500);
      const message = 'the handler returned a Response of status 503. Where that is no failure, return nothing';
      expect(serving.errors).toEqual([expect.objectContaining({ message })]);
    }
    answer = new Response(null, { status: 204 });
    expect((await exchange(serving.port, post())).status).toBeLessThan(300);
    answer = new Response(null, { status: 503 });
    expect((await exchange(serving.port, post())).status).toBe(200);
  });

  it('answers 503 when handlerTimeout has passed, and aborts the signal (G03)', async () => {
    let signal: AbortSignal | undefined;
    const serving = await serve(host, {
      options: { handlerTimeout: 150 },
      handler: (_event, context) => {
        signal = context.signal;
        return hanging();
      },
    });
    const started = performance.now();
    expectRefused(await exchange(serving.port, post()), 503, 'handler_timeout');
    expect(performance.now() - started).toBeGreaterThan(140);
    expect(signal!.aborted).toBe(true);
    expect(signal!.reason).toMatchObject({ code: 'handler_timeout' });
  });

  it('lets nothing that comes after the 503 change it (G03)', async () => {
    let late: Promise<unknown> | undefined;
    const serving = await serve(host, {
      options: { handlerTimeout: 50 },
      handler: ({ reference }, { respond, signal }) => {
        if (reference !== REFERENCE) return undefined;
        late = new Promise((resolve) => {
          signal!.addEventListener('abort', () => setTimeout(resolve, 50));
        }).then(() => respond(200));
        return late;
      },
    });
    const wire = await begin(serving.port, post());
    expectRefused(await wire.reply(), 503, 'handler_timeout');
    await late!.catch(() => undefined);
    await wire.send(genuine('order-next'));
    expectAcknowledged(await wire.reply());
  });

  it.each(['later', 'at once'])('sends one reply when the handler responds and then throws %s (G05)', async (when) => {
    const serving = await serve(host, {
      handler: (_event, { respond }) => {
        void respond(201, { 'content-length': '2' }, 'ok');
        if (when === 'later') return Promise.reject(new OutOfStock('after the reply'));
        throw new OutOfStock('after the reply');
      },
    });
    const { status, body, wire } = await exchange(serving.port, post());
    // Where the response had not gone out, the error is the better answer: the sender comes again.
    expect([status, body]).toEqual(host.capabilities.responds === 'at once' ? [201, 'ok'] : [500, failure]);
    expect(serving.errors).toEqual([expect.any(OutOfStock)]);
    wire.finish();
    await wire.closed();
  });

  it('releases a handler that never settles, and whose sender is gone, at handlerTimeout (G06)', async () => {
    let signal: AbortSignal | undefined;
    const serving = await serve(host, {
      options: { handlerTimeout: 200 },
      handler: ({ reference }, context) => {
        if (reference !== REFERENCE) return undefined;
        signal = context.signal;
        return hanging();
      },
    });
    const wire = await begin(serving.port, post());
    await eventually('the handler', () => signal !== undefined);
    wire.reset();
    await eventually('the end of the connection', async () => (await serving.connections()) === 0);
    // The sender's leaving is no reason to stop: only the time is.
    expect(signal!.aborted).toBe(false);
    await eventually('the abort', () => signal!.aborted);
    expect(serving.errors).toEqual([]);
  });

  it('holds the response back from the handler where a store must commit first (G04)', async () => {
    let canRespond: boolean | undefined;
    const serving = await serve(host, {
      options: { idempotency: memoryStore() },
      handler: (_event, context) => {
        canRespond = context.canRespond;
      },
    });
    expectAcknowledged(await exchange(serving.port, post()));
    expect(canRespond).toBe(host.capabilities.fetch);
  });

  it('runs the handler again at the retry of a failed delivery, and not again once it has succeeded (G09)', async () => {
    let attempts = 0;
    const serving = await serve(host, {
      options: { idempotency: memoryStore() },
      handler: () => {
        attempts += 1;
        if (attempts === 1) throw new OutOfStock('not yet');
      },
    });
    expect((await exchange(serving.port, post())).status).toBe(500);
    expectAcknowledged(await exchange(serving.port, post()));
    expectAcknowledged(await exchange(serving.port, post()));
    expect(attempts).toBe(2);
    expect(log()).not.toMatch(/not yet/);
  });
});
