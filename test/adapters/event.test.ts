import { describe, expect, it, vi } from 'vitest';
import { BODY, post, REFERENCE } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAccepted, expectRefused, references, serve } from './serving.js';
import { mustStaySecret } from './secrets.js';
import { log } from './watch.js';
import { exchange } from './wire.js';

const KIND = 'payment.succeeded';
/** A text that would forge a log line. */
const INJECTION = 'x%0a[paylink]\u001b[31m-forged-line';

describe.each(hosts)('$name', (host) => {
  it('refuses a repeated header, also with the same value', { tags: 'E02' }, async () => {
    const serving = await serve(host);
    for (const event of [
      [KIND, KIND],
      ['payment.failed', KIND],
      [KIND, ''],
    ])
      expectRefused(await exchange(serving.port, post(BODY, { event })), 400, 'invalid_event');
    expect(serving.events).toEqual([]);
  });

  it('neither echoes, logs nor observes the value of the header', { tags: 'E02' }, async () => {
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

  it(
    'ignores a relabelled success and accepts the genuine notification later',
    { tags: 'E07' },
    async () => {
      const serving = await serve(host);
      await expectAccepted(serving, post(BODY, { event: 'payment.unknown' }));
      expect(serving.events).toEqual([]);
      await expectAccepted(serving, post());
      expect(references(serving)).toEqual([REFERENCE]);
    },
  );
});
