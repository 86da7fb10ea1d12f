import { WebhookError } from '@paylink/core';
import { describe, expect, it } from 'vitest';
import { BODY, genuine, post, REFERENCE } from './deliveries.js';
import { handlerHosts, hosts } from './hosts/index.js';
import { eventually, expectAcknowledged, expectRefused, references, serve } from './serving.js';
import { log } from './watch.js';
import { begin, exchange } from './wire.js';

class OutOfStock extends Error {}

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
  ])(
    'lets the host answer an error that is thrown %s, and passes on the same error',
    async (_when, handler) => {
      const serving = await serve(host, { handler });
      const { status, body } = await exchange(serving.port, post());
      expect([status, body]).toEqual([500, failure]);
      expect(serving.errors).toEqual([expect.any(OutOfStock)]);
      expect(references(serving)).toEqual([REFERENCE]);
    },
  );

  it('finishes the handler if the sender leaves', async () => {
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
      await eventually(
        'the end of the connection',
        async () => (await serving.connections()) === 0,
      );
      resume!();
      resume = undefined;
      await eventually('the credit', () => credited === (leave === 'finish' ? 1 : 2));
    }
    expect(serving.errors).toEqual([]);
  });

  it('acknowledges the retry of a delivery that failed after its credit, without a second credit', async () => {
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

  it('loses no delivery while a handler blocks the event loop', async () => {
    const serving = await serve(host, {
      handler: ({ reference }) => {
        if (reference !== 'order-blocking') return;
        for (const end = performance.now() + 400; performance.now() < end;);
      },
    });
    const before = await Promise.all(
      Array.from({ length: 5 }, () => begin(serving.port, post().subarray(0, -5))),
    );
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
  it.each([
    ['unknown_order', 503, 503],
    ['order_closed', 409, 409],
    ['some_code', undefined, 500],
    ['payment_pending', undefined, 503],
  ])(
    'answers a WebhookError of the handler with its own code %s and status',
    async (code, status, expected) => {
      const serving = await serve(host, {
        handler: () => {
          throw new WebhookError(code, { status, message: 'for the log' });
        },
      });
      expectRefused(await exchange(serving.port, post()), expected, code);
      expect(serving.errors).toEqual([]);
      // Logged once, with its code.
      expect(log().match(/\[paylink\]/g)).toHaveLength(1);
      expect(log()).toContain(`[paylink] ${expected} ${code}: "${REFERENCE}": for the log`);
    },
  );

  it('answers 503 at handlerTimeout, and aborts the signal', async () => {
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

  it('sends one reply if the handler ends after the 503', async () => {
    let late: Promise<unknown> | undefined;
    const serving = await serve(host, {
      options: { handlerTimeout: 50 },
      handler: ({ reference }, { signal }) => {
        if (reference !== REFERENCE) return undefined;
        late = new Promise((_, reject) => {
          signal!.addEventListener('abort', () => setTimeout(reject, 20, new OutOfStock('late')));
        });
        return late;
      },
    });
    const wire = await begin(serving.port, post());
    expectRefused(await wire.reply(), 503, 'handler_timeout');
    await late!.catch(() => undefined);
    await wire.send(genuine('order-next'));
    expectAcknowledged(await wire.reply());
    expect(serving.errors).toEqual([]);
  });

  it('gives the handler the request of the host, `signal`, and no means to answer', async () => {
    const contexts: object[] = [];
    const serving = await serve(host, {
      handler: (_event, context) => void contexts.push(context),
    });
    expectAcknowledged(await exchange(serving.port, post()));
    expect(Object.keys(contexts[0]!).sort()).toEqual(host.capabilities.context);
  });

  it('releases a handler that never settles at handlerTimeout, even if its sender is gone', async () => {
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
    // A leaving sender does not abort the handler. Only the time limit does.
    expect(signal!.aborted).toBe(false);
    await eventually('the abort', () => signal!.aborted);
    expect(serving.errors).toEqual([]);
  });
});
