/** Other code put a name of HTTP on Object.prototype. */
import { afterEach, describe, expect, it } from 'vitest';
import { BODY, mac, post, REFERENCE } from './deliveries.js';
import { hosts } from './hosts/index.js';
import { expectAccepted, expectForged, references, serve } from './serving.js';

// Without Expect, which Node answers before any of its listeners.
const NAMES = {
  'content-length': '5',
  'content-encoding': 'gzip',
  'content-type': 'text/plain',
  'transfer-encoding': 'chunked',
  'x-service-event': 'payment.failed',
  'x-service-signature': mac(BODY),
  'x-http-method-override': 'GET',
  rawBody: BODY,
  body: BODY,
};

afterEach(() => {
  for (const name of Object.keys(NAMES)) Reflect.deleteProperty(Object.prototype, name);
});

describe.each(hosts)('$name', (host) => {
  // Hono's server builds a Request whose line begins with the inherited one, so it is refused.
  const isOnHonosRequest = host.capabilities.fetch && !host.name.startsWith('Hono');
  const names = Object.entries(NAMES).filter(
    ([name]) => !(isOnHonosRequest && name === 'x-service-signature'),
  );

  it(
    'accepts genuine deliveries and no others if every object inherits a name of HTTP',
    { tags: 'R04' },
    async () => {
      const serving = await serve(host);
      await expectAccepted(serving, post());
      for (const [name, value] of names) {
        const inherited = { value, configurable: true, writable: true };
        Object.defineProperty(Object.prototype, name, inherited);
        await expectAccepted(serving, post());
        await expectAccepted(serving, post(BODY, { framing: 'chunked' }));
        await expectForged(serving, post('{"reference":"another"}', { signature: [] }));
        Reflect.deleteProperty(Object.prototype, name);
      }
      expect(references(serving)).toEqual(Array(1 + 2 * names.length).fill(REFERENCE));
    },
  );
});
