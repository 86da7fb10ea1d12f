/** Every delivery of the attack kit, on every host. packages/core/test has more forms of each. */
import { attacks } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { materialOf } from '../../packages/testing/src/attacks/attack.js';
import { craftOf, rawAttacks, type Craft } from '../../packages/testing/src/attacks/raw.js';
import table from '../../packages/testing/src/attacks/rows.json' with { type: 'json' };
import { headerNames } from '../../packages/testing/src/delivery-forms.js';
import { PATH, REFERENCE, SECRET } from './deliveries.js';
import { hosts, newestHosts } from './hosts/index.js';
import { mustStaySecret } from './secrets.js';
import { expectAcknowledged, expectEnded, expectRefused, references, serve } from './serving.js';
import { exchange } from './wire.js';

const common = { secret: SECRET, reference: REFERENCE, bodyLimit: 65_536 };
const usual = craftOf(materialOf({ ...common, names: headerNames() }), 'shop.example', PATH);
/** Leaves the end of the connection to the receiver. */
const craft: Craft = {
  ...usual,
  request: (lines, body, parts) =>
    usual.request(lines, body, { connection: 'keep-alive', ...parts }),
};

interface Sent {
  readonly id: string;
  readonly name: string;
  readonly status: number;
  readonly code?: string | undefined;
  readonly bytes: Buffer;
  /** The reference that the handler gets. Undefined if the handler does not run. */
  readonly reference?: string | undefined;
}

const clientAttacks = attacks(common).map(({ delivery: { headers, rawBody }, ...attack }): Sent => {
  const bytes = craft.request(Object.entries(headers), rawBody);
  // The handler does not get events of unknown kinds.
  if (attack.category !== 'genuine' || attack.id === 'E04') return { ...attack, bytes };
  return {
    ...attack,
    bytes,
    ...(JSON.parse(rawBody.toString()) as { readonly reference: string }),
  };
});
const socketAttacks = rawAttacks
  .filter(({ byServer }) => byServer !== true)
  .map(({ bytes, ...attack }): Sent => {
    const reference = attack.category === 'genuine' ? REFERENCE : undefined;
    return { ...attack, bytes: bytes(craft), reference };
  });
const all = [...clientAttacks, ...socketAttacks];
const ids = [...new Set(all.map(({ id }) => id))].sort();

/** Long rows that only core tells apart, so each host gets one of four shares. */
const BY_CORE = /^(?:A09|A11|A18|A19|B04|C01|C02|C03|C07|C14|C15)$/;
const SHARES = 4;

function rowsOf(sections: RegExp, index: number): [title: string, sent: Sent[]][] {
  return ids
    .filter((id) => sections.test(id))
    .map((id) => {
      const sent = all.filter((each) => each.id === id);
      const share = sent.filter((_, at) => at % SHARES === index % SHARES);
      return [`${id} ${table[id as keyof typeof table]}`, BY_CORE.test(id) ? share : sent];
    });
}

describe.each([
  ...hosts.map((host, index) => ({ name: host.name, host, rows: rowsOf(/^[ABCE]/, index) })),
  ...newestHosts.map((host, index) => ({ name: host.name, host, rows: rowsOf(/^D/, index) })),
])('$name', ({ host, rows }) => {
  it.each(rows)('%s', async (_title, sent) => {
    const serving = await serve(host);
    const expected: string[] = [];
    for (const { name, status, code, bytes, reference } of sent) {
      const text = bytes.toString('latin1');
      mustStaySecret(text.slice(text.indexOf('\r\n\r\n') + 4));
      for (const [, signature = ''] of text.matchAll(/^x-service-signature: (.*)\r$/gim))
        mustStaySecret(signature);
      const reply = await exchange(serving.port, bytes);
      if (code === undefined) expectAcknowledged(reply);
      else expectRefused(reply, status, code);
      if (status === 401) await expectEnded(host, reply, reply.wire);
      reply.wire.destroy();
      if (reference !== undefined) expected.push(reference);
      expect(references(serving), name).toEqual(expected);
    }
    expect(serving.errors).toEqual([]);
  });
});
