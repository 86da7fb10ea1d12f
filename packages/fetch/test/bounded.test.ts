import { signedDelivery } from '@paylink/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isBounded } from '../src/bounded.js';
import { deliveryOf, paymentWebhook, type FetchRequest } from '../src/index.js';
import { readBody } from '../src/read-body.js';

// What Bun's own server says of which request is tried on Bun, in test/runtimes.
const ADDRESS = { address: '127.0.0.1', family: 'IPv4', port: 1 };
const bunServer = { requestIP: (request: unknown) => (request === own ? ADDRESS : null) };
const { rawBody, headers } = signedDelivery();
const LEFT = new Error('The connection was closed.');
let own: Request;
/** A request whose sender leaves. */
let left: FetchRequest;

function requestOf(length: number | undefined, body = rawBody): Request {
  const declared: Record<string, string> = length === undefined ? {} : { 'content-length': String(length) };
  return new Request('http://localhost/', { method: 'POST', headers: { ...headers, ...declared }, body: new Uint8Array(body) });
}

beforeEach(() => {
  vi.stubGlobal('Bun', {});
  own = requestOf(rawBody.length);
  left = { method: 'POST', headers: own.headers, arrayBuffer: () => Promise.reject(LEFT) };
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('a body is bounded', () => {
  it('where Bun’s server knows the request', () => {
    expect(isBounded(own, bunServer)).toBe(true);
    expect(isBounded(own.clone(), bunServer)).toBe(false);
  });

  it('nowhere but on Bun', () => {
    vi.unstubAllGlobals();
    expect(isBounded(own, bunServer)).toBe(false);
  });

  it.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'server'],
    ['the bindings of a Worker', { SECRET: 'text' }],
    ['an object with the server', { server: bunServer }],
    ['a server that throws', { requestIP: () => expect.fail('Expected Request object') }],
    ['an address and no function', { requestIP: ADDRESS }],
  ])('not by %s beside the request', (_what, host) => {
    expect(isBounded(own, host)).toBe(false);
  });
});

describe('a body that is bounded', () => {
  const limits = { bodyLimit: 65_536, bodyTimeout: 200 };
  const readDeclared = (request: FetchRequest) => readBody(request, limits, true);

  it('is read in one go', async () => {
    const asked = vi.spyOn(own, 'body', 'get');
    expect(Buffer.from(await deliveryOf(own, bunServer).body(limits)).equals(rawBody)).toBe(true);
    expect(asked).not.toHaveBeenCalled();
  });

  it.each([
    ['without a declared length', undefined, bunServer],
    ['that the server does not know', rawBody.length, { requestIP: () => null }],
  ])('is not one %s, which is read against the limit', async (_what, length, host) => {
    own = requestOf(length);
    const asked = vi.spyOn(own, 'arrayBuffer');
    expect(await deliveryOf(own, host).body(limits)).toHaveLength(rawBody.length);
    expect(asked).not.toHaveBeenCalled();
    await expect(deliveryOf(requestOf(length), host).body({ ...limits, bodyLimit: 9 })).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it('is held to the limit all the same', async () => {
    const bodyLimit = rawBody.length;
    const within = readBody(own.clone(), { ...limits, bodyLimit }, true);
    await expect(within).resolves.toHaveLength(bodyLimit);
    const beyond = readBody(own, { ...limits, bodyLimit: bodyLimit - 1 }, true);
    await expect(beyond).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('must end in time', async () => {
    const never = { method: 'POST', headers: own.headers, arrayBuffer: () => new Promise<ArrayBuffer>(() => undefined) };
    await expect(readDeclared(never)).rejects.toMatchObject({ code: 'body_timeout' });
  });

  it('leaves no timer behind, whether it is read or not', async () => {
    vi.useFakeTimers();
    await readDeclared(own);
    await expect(readDeclared(left)).rejects.toThrow();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is incomplete where its sender leaves', async () => {
    await expect(readDeclared(left)).rejects.toMatchObject({ code: 'incomplete_body', cause: LEFT });
  });

  it('cannot be read twice, by whomever', async () => {
    const byAnother = /another paymentWebhook read the body first/;
    await readDeclared(own);
    await expect(readDeclared(own)).rejects.toMatchObject({ code: 'body_consumed', message: byAnother });
    const parsed = requestOf(rawBody.length);
    await parsed.json();
    await expect(readDeclared(parsed)).rejects.toMatchObject({
      code: 'body_consumed',
      message: expect.not.stringMatching(byAnother) as string,
    });
  });

  it('ends the connection with a 401 and a 408, and with no other reply', async () => {
    const events: string[] = [];
    const options = {
      secret: 'a-secret-of-the-portal',
      bodyTimeout: 20,
      logger: { warn: () => undefined, error: () => undefined },
    };
    const handle = paymentWebhook(options, { 'payment.succeeded': ({ reference }) => void events.push(reference) });
    const connectionOf = async (request: FetchRequest, host: object): Promise<readonly [number, string | null]> => {
      const { status, headers: sent } = await handle(request, host);
      return [status, sent.get('connection')];
    };
    const knowsAll = { requestIP: () => ADDRESS };
    const genuine = signedDelivery({ secret: options.secret });
    const slow = { method: 'POST', headers: own.headers, arrayBuffer: () => new Promise<ArrayBuffer>(() => undefined) };
    expect(await connectionOf(own, knowsAll)).toEqual([401, 'close']);
    expect(await connectionOf(slow, knowsAll)).toEqual([408, 'close']);
    expect(await connectionOf(genuine.toRequest('http://localhost/'), knowsAll)).toEqual([200, null]);
    expect(await connectionOf(requestOf(rawBody.length), { requestIP: () => null })).toEqual([401, null]);
    expect(events).toHaveLength(1);
  });
});
