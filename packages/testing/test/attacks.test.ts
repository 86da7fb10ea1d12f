import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rawAttacks } from '../src/attacks/raw.js';
import { attacks, signedDelivery } from '../src/index.js';

const SECRET = 'a-secret-of-these-tests';
const all = attacks({ secret: SECRET });
const of = (category: string) => all.filter((attack) => attack.category === category);
const hmac = (body: Uint8Array): string => createHmac('sha256', SECRET).update(body).digest('hex');

describe('attacks', () => {
  it('have unique names that begin with their row', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { id, name } of all) {
      expect(name).toMatch(new RegExp(`^${id} [a-z].{10,}`));
      expect(id).toMatch(/^[A-E][0-9]{2}$/);
    }
  });

  it('cover every row that an HTTP client can send', () => {
    const rows =
      'A01 A02 A03 A04 A06 A08 A09 A11 A12 A13 A14 A17 A18 A19 A21 A23 B04 B07 B13 ' +
      'C01 C02 C03 C06 C07 C08 C09 C10 C11 C12 C13 C14 C15 C16 C18 C19 C20 C21 C23 C24 ' +
      'D03 D05 D12 D13 D14 D19 D20 D21 D23 D27 E01 E02 E04 E05 E08';
    expect([...new Set(all.map(({ id }) => id))].sort()).toEqual(rows.split(' '));
  });

  it('judge a receiver by its reply to each row, and by the harm of another reply', () => {
    const rows = (category: string, severity: string): string => {
      const judged = of(category).filter((attack) => attack.severity === severity);
      return [...new Set(judged.map(({ id }) => id))].sort().join(' ');
    };
    expect(rows('genuine', 'high')).toBe('A21 C03 C08 C18 C19 C21 C23');
    expect(rows('genuine', 'medium')).toBe('C16 C20 D05 D19 D20 D21 D23 D27 E04 E08');
    expect(rows('genuine', 'note')).toBe('D14');
    expect(rows('invalid', 'medium')).toBe('C24 D03 D05');
    expect(rows('invalid', 'low')).toBe('C06 C09 C11 C12 C13 C14 C15 D12 D13 E01 E02 E05');
    expect(rows('forged', 'critical')).toBe('A01 A02 A11 A13 A14 A17 A18 A19 B04 B07 B13 C01 C10');
    expect(rows('forged', 'high')).toBe('C01 C02 C07 D12 D13');
    expect(rows('forged', 'medium')).toBe('A06 A08 A09 A12 A21 A23');
    expect(rows('forged', 'note')).toBe('A03 A04');
    for (const { name, accepts } of of('forged'))
      expect(accepts, name).toEqual(expect.arrayContaining([400, 403]));
  });

  it('let a server close the connection instead of a reply in these rows of raw bytes', () => {
    const closing = rawAttacks.filter(({ mayClose }) => mayClose === true);
    const rows = [...new Set(closing.map(({ id }) => id))];
    expect(rows.join(' ')).toBe('A08 A12 A15 D03 D09 D18 D25');
  });

  it('differ from each other, and from the genuine delivery', () => {
    const bytes = new Map<string, string>();
    const { headers, rawBody } = signedDelivery({ secret: SECRET, reference: 'paylink-attack' });
    const sent = [{ name: 'genuine', delivery: { headers, rawBody } }, ...all];
    for (const { name, delivery } of sent) {
      const lines = Object.entries(delivery.headers).sort();
      const key = `${JSON.stringify(lines)}\n${delivery.rawBody.toString('latin1')}`;
      expect(bytes.get(key), name).toBeUndefined();
      bytes.set(key, name);
    }
  });

  it('never carry a valid signature if they are forged', () => {
    for (const { name, delivery, status } of of('forged')) {
      expect(delivery.headers['x-service-signature'], name).not.toBe(hmac(delivery.rawBody));
      expect([401, 415]).toContain(status);
    }
  });

  it('flip one bit in each byte of the signature, and each of the eight bits', () => {
    const [bytes, bits] = [new Set<number>(), new Set<number>()];
    for (const { name, delivery } of of('forged').filter(({ id }) => id === 'A18')) {
      const sent = Buffer.from(delivery.headers['x-service-signature']!, 'hex');
      const right = Buffer.from(hmac(delivery.rawBody), 'hex');
      const flips = [...right].map((byte, at) => byte ^ sent[at]!);
      expect(
        flips.filter((flip) => flip !== 0),
        name,
      ).toHaveLength(1);
      bytes.add(flips.findIndex((flip) => flip !== 0));
      bits.add(Math.max(...flips));
    }
    expect([bytes.size, bits.size]).toEqual([32, 8]);
  });

  it('carry a valid signature if they are genuine or invalid', () => {
    for (const { name, id, delivery, status } of [...of('genuine'), ...of('invalid')]) {
      const signature = Object.entries(delivery.headers).find(
        ([header]) => header.toLowerCase() === 'x-service-signature',
      )?.[1];
      expect(signature, name).toBe(hmac(delivery.rawBody));
      expect(status === 200, name).toBe(of('genuine').some((attack) => attack.name === name));
      if (status === 200 && id !== 'C16')
        expect(delivery.rawBody.toString()).toContain('"paylink-attack"');
    }
  });

  it('accept any usual 2xx as an acknowledgement', () => {
    for (const { name, accepts } of of('genuine'))
      expect(accepts, name).toEqual(expect.arrayContaining([201, 202, 204]));
  });

  it('have the same bytes in every form', async () => {
    for (const { name, delivery } of all) {
      const request = delivery.toRequest('http://localhost/webhooks');
      expect(Buffer.from(await request.arrayBuffer()).equals(delivery.rawBody), name).toBe(true);
      expect(delivery.toInject('/webhooks').payload.equals(delivery.rawBody), name).toBe(true);
      expect(Buffer.from(delivery.body).equals(delivery.rawBody), name).toBe(true);
    }
  });

  it('use the options reference, bodyLimit, headers and confirm', () => {
    const given = attacks({
      secret: SECRET,
      reference: 'order-of-a-test',
      bodyLimit: 2_048,
      confirm: true,
      headers: { signature: 'X-Sig', event: 'X-Kind' },
    });
    expect(given.some(({ id }) => id === 'C24')).toBe(false);
    // The depth of its nested body follows the limit.
    expect(given.some(({ id }) => id === 'C20')).toBe(true);
    const lengthOf = (start: string): number | undefined =>
      given.find(({ name }) => name.startsWith(start))?.delivery.rawBody.length;
    expect([lengthOf('D05 accepts'), lengthOf('D05 refuses')]).toEqual([2_048, 2_049]);
    const genuineOnes = given.filter(({ category }) => category === 'genuine');
    expect(Math.max(...genuineOnes.map(({ delivery }) => delivery.rawBody.length))).toBe(2_048);
    const genuine = signedDelivery({
      secret: SECRET,
      reference: 'order-of-a-test',
      headers: { signature: 'x-sig', event: 'x-kind' },
    });
    expect(genuineOnes[0]!.delivery.rawBody).toEqual(genuine.rawBody);
    expect(JSON.stringify(given.map(({ delivery }) => delivery.headers))).not.toContain(
      'x-service-',
    );
  });

  it('do not sign with the secret of the receiver as a weak secret', () => {
    expect(attacks().some(({ id }) => id === 'B07')).toBe(false);
    expect(
      attacks({ secret: Buffer.from('changeme') }).filter(({ id }) => id === 'B04'),
    ).toHaveLength(4);
    expect(attacks({ secret: SECRET }).some(({ id }) => id === 'B07')).toBe(true);
  });

  it('refuse an empty secret and a tiny bodyLimit', () => {
    expect(() => attacks({ secret: '' })).toThrow('secret is empty');
    expect(() => attacks({ bodyLimit: 10 })).toThrow('bodyLimit');
  });
});
