import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type PaylinkClient } from '@paylink/client';
import fc from 'fast-check';

/** The outcomes of a request. If the answer is lost, the service may have created the link. */
const fates = fc.constantFrom(
  'answered',
  'dropped before',
  'dropped after',
  'failed before',
  'failed after',
  'refused for its rate',
  'cut off',
);

interface Sent {
  readonly key: string | undefined;
  readonly body: string;
}

/** Starts a service that follows Idempotency-Key: one link per key, and an outcome per request. */
async function startService() {
  const links = new Map<string, { readonly token: string; readonly body: string }>();
  const sent: Sent[] = [];
  let coming: string[] = [];

  const take = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    let body = '';
    for await (const piece of req.setEncoding('utf8')) body += piece as string;
    const key = req.headers['idempotency-key'] as string | undefined;
    sent.push({ key, body });
    const fate = coming.shift() ?? 'answered';
    if (fate === 'dropped before') return void req.socket.resetAndDestroy();
    if (fate === 'failed before') return void res.writeHead(500, { 'retry-after': '0' }).end();
    if (fate === 'refused for its rate')
      return void res.writeHead(429, { 'retry-after': '0' }).end();

    const identity = key ?? `without a key ${sent.length}`;
    const link = links.get(identity) ?? { token: `token-${links.size}`, body };
    links.set(identity, link);
    if (fate === 'dropped after') return void req.socket.resetAndDestroy();
    if (fate === 'failed after') return void res.writeHead(502, { 'retry-after': '0' }).end();
    const { amount, reference } = JSON.parse(link.body) as Record<string, unknown>;
    const answer = JSON.stringify({
      ...{
        token: link.token,
        url: `https://pay.example/link/${link.token}`,
        amount,
        currency: 'XOF',
        reference,
        status: 'pending',
      },
    });
    res.writeHead(201, { 'content-type': 'application/json', 'content-length': answer.length });
    if (fate === 'cut off') res.write(answer.slice(0, 20), () => req.socket.resetAndDestroy());
    else res.end(answer);
  };

  const server = createServer((req, res) => void take(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    links,
    sent,
    expect(next: readonly string[]) {
      links.clear();
      sent.length = 0;
      coming = [...next];
    },
    close() {
      server.close().closeAllConnections();
    },
  };
}

/** Makes the client's waits fifty times shorter. */
function hurry(): () => void {
  const real = globalThis.setTimeout;
  globalThis.setTimeout = ((
    run: (...given: unknown[]) => void,
    milliseconds = 0,
    ...given: unknown[]
  ) => real(run, milliseconds / 50, ...given)) as typeof setTimeout;
  return () => void (globalThis.setTimeout = real);
}

type CreateClient = (baseUrl: string) => Pick<PaylinkClient, 'createPaymentLink'>;

const ourClient: CreateClient = (baseUrl) =>
  createClient({ baseUrl, apiKey: 'sk_live_properties.a-key-of-no-service' });

/**
 * Holds if one call creates at most one link, sends one key and the same bytes on every try, and
 * resolves with the created link, whichever messages are lost.
 */
export async function oneLink(create: CreateClient = ourClient) {
  const service = await startService();
  const restoreTime = hurry();
  const client = create(service.baseUrl);
  let order = 0;
  const property = fc.asyncProperty(
    fc.array(fates, { maxLength: 4 }),
    fc.integer({ min: 1, max: 1e6 }),
    async (coming, amount) => {
      service.expect(coming);
      order += 1;
      const link = await client
        .createPaymentLink({ amount, reference: `order-${order}` })
        .catch(() => undefined);
      const keys = new Set(service.sent.map(({ key }) => key));
      const bodies = new Set(service.sent.map(({ body }) => body));
      const [made] = service.links.values();
      return (
        keys.size === 1 &&
        !keys.has(undefined) &&
        bodies.size === 1 &&
        service.links.size <= 1 &&
        (link === undefined || link.token === made?.token)
      );
    },
  );
  return {
    property,
    close: () => {
      restoreTime();
      service.close();
    },
  };
}
