import { afterEach, describe, expect, it, vi } from 'vitest';
import { readBody, type FetchRequest } from '../src/read-body.js';

const limits = { bodyLimit: 65_536, bodyTimeout: 10_000 };

afterEach(() => {
  vi.useRealTimers();
});

/** A request whose body comes in these pieces. */
function requestOf(...pieces: Uint8Array[]): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' });
}

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

const piece = (length: number): Uint8Array => new Uint8Array(length).map((_, index) => index % 251);

it.each<[string, (length: number) => Uint8Array]>([
  ['Uint8Array', piece],
  ['Buffer', (length) => Buffer.from(piece(length))],
])('holds a copy of each %s, because a host may use its memory again', async (_, make) => {
  const pieces = [make(10), make(10)];
  for (const sent of [pieces, pieces.slice(1)]) {
    const body = await readBody(requestOf(...sent), limits);
    for (const each of sent) each.fill(0);
    expect(Buffer.from(body).equals(Buffer.concat(sent.map(() => piece(10))))).toBe(true);
    pieces[1]!.set(piece(10));
  }
});

describe('the length of a body', () => {
  it.each([[[0]], [[0, 5]], [[5, 0]], [[5, 0, 5]]])(
    'is the sum of its pieces, also of empty pieces: %j',
    async (lengths) => {
      const body = await readBody(requestOf(...lengths.map(piece)), limits);
      expect(Buffer.from(body).equals(Buffer.concat(lengths.map(piece)))).toBe(true);
    },
  );

  it('never exceeds the limit', async () => {
    const exact = { ...limits, bodyLimit: 10 };
    expect(await readBody(requestOf(piece(4), piece(6)), exact)).toHaveLength(10);
    await expect(readBody(requestOf(piece(4), piece(7)), exact)).rejects.toMatchObject({
      code: 'body_too_large',
    });
  });

  it('equals 0 without a body', async () => {
    const request = new Request('http://localhost/', { method: 'POST' });
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

  it('makes the body incomplete if the sender leaves before the end without a declared length', async () => {
    const controller = new AbortController();
    const given = [{ done: false, value: piece(5) }];
    const request = hostRequest(async () => {
      if (given.length > 0) return given.shift()!;
      controller.abort();
      return { done: true };
    });
    const reading = readBody({ ...request, signal: controller.signal }, limits);
    await expect(reading).rejects.toMatchObject({ code: 'incomplete_body' });
  });
});

describe('a body that never ends or breaks', () => {
  it('makes the body incomplete, with the cause', async () => {
    const cause = new Error('reset by peer');
    const broken = hostRequest(() => Promise.reject(cause));
    await expect(readBody(broken, limits)).rejects.toMatchObject({
      code: 'incomplete_body',
      cause,
    });
    const left = { ...broken, signal: AbortSignal.abort(cause) };
    await expect(readBody(left, limits)).rejects.toMatchObject({ code: 'incomplete_body', cause });
  });

  it('loses its reader once, even if the stream breaks after the time limit', async () => {
    vi.useFakeTimers();
    const pending: ((error: Error) => void)[] = [];
    const body = readBody(
      hostRequest(() => new Promise((_, reject) => pending.push(reject))),
      limits,
    );
    const refused = expect(body).rejects.toMatchObject({ code: 'body_timeout' });
    await vi.advanceTimersByTimeAsync(limits.bodyTimeout + 200);
    await refused;
    // The reading, and the dropping.
    expect(pending).toHaveLength(2);
    for (const reject of pending) reject(new Error('reset by peer'));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(pending).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('loses its reader also on a host without streams', async () => {
    vi.useFakeTimers();
    const { method, headers } = requestOf();
    const body = readBody(
      { method, headers, arrayBuffer: () => new Promise(() => undefined) },
      limits,
    );
    const refused = expect(body).rejects.toMatchObject({ code: 'body_timeout' });
    await vi.advanceTimersByTimeAsync(limits.bodyTimeout + 2_000);
    await refused;
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(['800000000', '{"reference":"order-42"}', 800_000_000])(
    'refuses a piece that is not bytes, and allocates nothing for it: %j',
    async (piece) => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(piece);
          controller.close();
        },
      });
      const { method, headers } = requestOf();
      const request = { method, headers, body, arrayBuffer: () => Promise.reject(new Error()) };
      await expect(readBody(request, limits)).rejects.toMatchObject({ code: 'incomplete_body' });
    },
  );
});
