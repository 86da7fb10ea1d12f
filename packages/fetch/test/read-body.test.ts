import { afterEach, describe, expect, it, vi } from 'vitest';
import { readBody, type FetchRequest } from '../src/read-body.js';

const limits = { bodyLimit: 65_536, bodyTimeout: 10_000 };

afterEach(() => {
  vi.useRealTimers();
});

const requestOf = (body?: Uint8Array<ArrayBuffer>): Request =>
  new Request('http://localhost/', { method: 'POST', ...(body && { body }) });

/** A request of a host of its own, whose body is read so. */
function hostRequest(
  read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array }>,
): FetchRequest {
  const { method, headers } = requestOf();
  const reader = { read, cancel: () => Promise.resolve() };
  return {
    method,
    headers,
    body: { locked: false, getReader: () => reader },
    arrayBuffer: () => expect.fail('it has no limit'),
  };
}

const piece = (length: number) => new Uint8Array(length).map((_, index) => index % 251);

describe('the length of a body', () => {
  it('equals 0 without a body', async () => {
    const request = requestOf();
    const asked = vi.spyOn(request, 'arrayBuffer');
    expect(await readBody(request, limits)).toHaveLength(0);
    expect(asked).not.toHaveBeenCalled();
  });

  it.each([
    ['neither a piece nor an end', { done: false }],
    ['an empty piece with the end', { done: true, value: new Uint8Array() }],
  ])('is that of the pieces before %s', async (_what, last) => {
    const given = [{ done: false, value: piece(5) }, last];
    const body = await readBody(
      hostRequest(() => Promise.resolve(given.shift() ?? expect.fail('it was over'))),
      limits,
    );
    expect(body).toEqual(piece(5));
  });

  it('leaves a body without a declared length to the signature if the host aborts at its end', async () => {
    const controller = new AbortController();
    const given = [{ done: false, value: piece(5) }];
    const request = hostRequest(async () => {
      if (given.length > 0) return given.shift()!;
      // srvx aborts at the end of each complete request, and other hosts if the sender leaves.
      controller.abort();
      return { done: true };
    });
    const reading = readBody({ ...request, signal: controller.signal }, limits);
    expect(await reading).toEqual(piece(5));
  });
});

describe('a body that other code takes', () => {
  const message = expect.stringContaining('request.clone()') as string;
  const refusal = { code: 'body_consumed', message };

  it(
    'gives its bytes to one webhook alone, also if a host has no streams or keeps the bytes',
    { tags: 'F21' },
    async () => {
      const bytes = (): Promise<ArrayBuffer> => Promise.resolve(new Uint8Array(piece(5)).buffer);
      const { method, headers, body } = requestOf(piece(5));
      const whole: FetchRequest = { method, headers, arrayBuffer: bytes };
      for (const [request, kept] of [[whole], [{ ...whole, body }, bytes()]] as const) {
        expect(await readBody(request, limits, kept)).toEqual(piece(5));
        await expect(readBody(request, limits, kept)).rejects.toMatchObject(refusal);
      }
    },
  );

  it('names the remedy while another reader holds the body', async () => {
    const request = requestOf(piece(5));
    request.body!.getReader();
    expect(request.bodyUsed).toBe(false);
    await expect(readBody(request, limits)).rejects.toMatchObject(refusal);
  });
});
