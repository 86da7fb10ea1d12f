import { describe, expect, it, vi } from 'vitest';
import { BODY, mac, post, REFERENCE, type Message } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAcknowledged, expectRefused, references, serve } from './serving.js';
import { mustStaySecret } from './secrets.js';
import { log } from './watch.js';
import { exchange } from './wire.js';

const KIND = 'payment.succeeded';
/** A text that would forge a log line. */
const INJECTION = 'x%0a[paylink]\u001b[31m-forged-line';

const invalid: readonly (readonly [title: string, ...messages: Message[]])[] = [
  ['E01 refuses a delivery without the header', { event: [] }],
  ['E02 refuses an empty header', { event: '' }, { event: '  \t ' }],
  [
    'E02 refuses a name of more than 128 characters',
    { event: 'a'.repeat(129) },
    { event: `${KIND}${'.'.repeat(5_000)}` },
  ],
  [
    'E02 refuses characters that are invalid in a kind',
    ...[
      'payment succeeded',
      'payment/succeeded',
      'payment:succeeded',
      `"${KIND}"`,
      `${KIND};q=1`,
      `${KIND},`,
      `${KIND}\u00a0`,
      '*',
      'é',
    ].map((event) => ({ event })),
  ],
  [
    'E02 refuses a repeated header, also with the same value',
    { event: [KIND, KIND] },
    { event: [KIND, 'payment.failed'] },
    { event: ['payment.failed', KIND] },
    { event: `${KIND}, ${KIND}` },
    { event: [KIND, ''] },
  ],
  [
    'E05 refuses a kind with capital letters',
    { event: 'Payment.Succeeded' },
    { event: 'PAYMENT.SUCCEEDED' },
  ],
];

describe.each(hosts)('$name', (host) => {
  it.each(invalid.map(([title, ...messages]) => [title, messages] as const))(
    '%s',
    async (_title, messages) => {
      const serving = await serve(host);
      for (const message of messages)
        expectRefused(await exchange(serving.port, post(BODY, message)), 400, 'invalid_event');
      expect(serving.events).toEqual([]);
    },
  );

  it('E01 does not judge the header before the signature matches', async () => {
    const serving = await serve(host);
    for (const event of [[], [''], ['Payment.Succeeded'], [KIND, KIND]]) {
      expectRefused(
        await exchange(serving.port, post(BODY, { event, signature: mac('another body') })),
        401,
        'invalid_signature',
      );
    }
    expect(serving.events).toEqual([]);
  });

  it('E02 neither echoes, logs nor observes the value of the header', async () => {
    const observe = vi.fn();
    const serving = await serve(host, { options: { observe } });
    mustStaySecret(INJECTION);
    const { status } = await exchange(
      serving.port,
      post(BODY, { event: INJECTION.replaceAll('\u001b', '') }),
    );
    const unknown = await exchange(serving.port, post(BODY, { event: 'forged-line.in-a-kind' }));
    expect([status, unknown.status]).toEqual([400, 200]);
    expect(log() + JSON.stringify(observe.mock.calls)).not.toContain('forged-line');
  });

  it.each([
    'payment.failed',
    'refund.created',
    'x',
    'a'.repeat(128),
    'constructor',
    '__proto__',
    'tostring',
    'unrecognized',
    'hasownproperty',
    '..',
    'payment.succeeded.',
    'payment.succeede',
  ])('E04 acknowledges and ignores the signed kind %s', async (event) => {
    const observe = vi.fn();
    const serving = await serve(host, { options: { observe } });
    expectAcknowledged(await exchange(serving.port, post(BODY, { event })));
    expect(serving.events).toEqual([]);
    expect(observe).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ outcome: 'ignored', type: 'unrecognized', reference: REFERENCE }),
    );
  });

  it('E07 ignores a relabelled success and accepts the genuine notification later', async () => {
    const serving = await serve(host);
    expectAcknowledged(await exchange(serving.port, post(BODY, { event: 'payment.unknown' })));
    expect(serving.events).toEqual([]);
    expectAcknowledged(await exchange(serving.port, post()));
    expect(references(serving)).toEqual([REFERENCE]);
  });

  it.each([
    ['failed', 400],
    ['cancelled', 400],
    ['pending', 503],
  ])(
    'E08 refuses a success whose signed body says %s, even if the body repeats the kind',
    async (status, expected) => {
      const serving = await serve(host);
      const { status: got } = await exchange(
        serving.port,
        post(JSON.stringify({ reference: 'a', event: KIND, type: KIND, status })),
      );
      expect(got).toBe(expected);
      expect(serving.events).toEqual([]);
    },
  );

  it('E08 ignores another kind in the body, since the contract has no such field', async () => {
    const serving = await serve(host);
    expectAcknowledged(
      await exchange(
        serving.port,
        post('{"reference":"a","event":"payment.failed","type":"refund"}'),
      ),
    );
    expect(references(serving)).toEqual(['a']);
  });
});
