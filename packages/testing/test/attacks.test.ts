import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { attacks, signedDelivery, TEST_SECRET } from '../src/index.js';

const SECRET = 'a-secret-of-these-tests';
const all = attacks({ secret: SECRET });
const of = (category: string) => all.filter((attack) => attack.category === category);
const hmac = (body: Uint8Array): string => createHmac('sha256', SECRET).update(body).digest('hex');

describe('attacks', () => {
  it('are named by a sentence of their own that begins with their row', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    for (const { id, name, advice } of all) {
      expect(name).toMatch(new RegExp(`^${id} [a-z].{10,}`));
      expect(id).toMatch(/^[A-E][0-9]{2}$/);
      expect(advice.length).toBeGreaterThan(40);
    }
  });

  it('have every row that any HTTP client can send', () => {
    const rows =
      'A01 A02 A03 A04 A06 A08 A09 A11 A12 A13 A14 A17 A18 A19 A21 A23 B04 B07 B13 ' +
      'C01 C02 C03 C06 C07 C08 C09 C10 C11 C12 C13 C14 C15 C16 C18 C19 C20 C21 C23 C24 ' +
      'D03 D05 D12 D13 D14 D19 D20 D21 D23 D27 E01 E02 E04 E05 E08';
    expect([...new Set(all.map(({ id }) => id))].sort()).toEqual(rows.split(' '));
  });

  it('forge: none carries the signature of its bytes as the contract spells it', () => {
    for (const { name, delivery, status } of of('forged')) {
      expect(delivery.headers['x-service-signature'], name).not.toBe(hmac(delivery.rawBody));
      expect([401, 415]).toContain(status);
    }
  });

  it('are genuine or invalid under the signature of their bytes', () => {
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

  it('let a receiver acknowledge what is genuine by another 2xx than 200', () => {
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

  it('take reference, limit, names of headers, and that the API decides', () => {
    const given = attacks({
      secret: SECRET,
      reference: 'order-of-a-test',
      bodyLimit: 2_048,
      confirm: true,
      headers: { signature: 'X-Sig', event: 'X-Kind' },
    });
    expect(given.some(({ id }) => id === 'C24')).toBe(false);
    expect(given.find(({ name }) => name.startsWith('D05 accepts'))?.delivery.rawBody.length).toBe(
      2_048,
    );
    expect(given.find(({ name }) => name.startsWith('D05 refuses'))?.delivery.rawBody.length).toBe(
      2_049,
    );
    expect(
      given
        .filter(({ category }) => category === 'genuine')
        .every(({ delivery }) => delivery.rawBody.length <= 2_048),
    ).toBe(true);
    const [first] = given.filter(({ category }) => category === 'genuine');
    const genuine = signedDelivery({
      secret: SECRET,
      reference: 'order-of-a-test',
      headers: { signature: 'x-sig', event: 'x-kind' },
    });
    expect(first!.delivery.rawBody).toEqual(genuine.rawBody);
    expect(JSON.stringify(given.map(({ delivery }) => delivery.headers))).not.toContain(
      'x-service-',
    );
  });

  it('do not call the receiver’s own secret a weak one', () => {
    expect(attacks().some(({ id }) => id === 'B07')).toBe(false);
    expect(
      attacks({ secret: Buffer.from('changeme') }).filter(({ id }) => id === 'B04'),
    ).toHaveLength(4);
    expect(attacks({ secret: SECRET }).some(({ id }) => id === 'B07')).toBe(true);
    expect(TEST_SECRET.length).toBeGreaterThan(0);
  });

  it('refuse what no attack can be made of', () => {
    expect(() => attacks({ secret: '' })).toThrow('secret is empty');
    expect(() => attacks({ bodyLimit: 10 })).toThrow('bodyLimit');
  });
});
