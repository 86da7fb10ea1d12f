/** Stands in for npm's staging and for GitHub's releases, in front of a real registry. */
import { randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';

/** The tokens of the release workflow, which can only stage, and of a maintainer. */
export const TOKENS = { stage: 'a-stage-only-token', maintainer: 'a-maintainers-token' };

async function jsonOf(req) {
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  return pieces.length === 0 ? {} : JSON.parse(Buffer.concat(pieces).toString());
}

/**
 * Starts the services on a free port of this machine.
 *
 * @param {{ registry: string, login: string }} upstream the registry and its token
 */
export async function startServices({ registry, login }) {
  const staged = new Map();
  const releases = [];
  const faults = { stageUntil: Infinity };

  async function answer(req, body, path) {
    const token = req.headers.authorization?.replace('Bearer ', '');
    const [, id] = /^\/-\/stage\/([0-9a-f-]{36})/.exec(path) ?? [];
    if (path.startsWith('/-/stage/package/')) {
      if (!Object.values(TOKENS).includes(token)) return [401, { error: 'no such token' }];
      if (staged.size >= faults.stageUntil) return [500, { error: 'a fault' }];
      const stageId = randomUUID();
      const [version] = Object.keys(body.versions);
      staged.set(stageId, { id: stageId, packageName: body.name, version, body });
      return [201, { stageId }];
    }
    if (path.startsWith('/-/stage') && token !== TOKENS.maintainer)
      return [403, { error: 'this token can only stage' }];
    if (path === '/-/stage') {
      const items = Array.from(staged.values(), ({ body: _, ...item }) => item);
      return [200, { items, total: items.length }];
    }
    if (id !== undefined && !staged.has(id)) return [404, { error: 'not staged' }];
    if (req.method === 'DELETE') staged.delete(id);
    if (path.endsWith('/approve')) {
      const { packageName, body: packument } = staged.get(id);
      const published = await fetch(new URL(packageName.replace('/', '%2f'), registry), {
        method: 'PUT',
        headers: { authorization: `Bearer ${login}`, 'content-type': 'application/json' },
        body: JSON.stringify(packument),
      });
      if (!published.ok) return [published.status, { error: await published.text() }];
      staged.delete(id);
    }
    if (id !== undefined) return [200, {}];
    const release = releases.find(({ id: known }) => path.endsWith(`/releases/${known}`));
    if (req.method === 'GET') return [200, releases];
    if (req.method === 'POST') releases.push({ id: releases.length + 1, ...body });
    return [200, release === undefined ? releases.at(-1) : Object.assign(release, body)];
  }

  const server = createServer(async (req, res) => {
    const path = req.url.split('?')[0];
    if (/^\/(-\/stage|repos\/)/.test(path)) {
      const [status, body] = await answer(req, await jsonOf(req), path);
      return res
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body));
    }
    if (req.method === 'PUT') return res.writeHead(403).end('{"error":"stage it"}');
    const { authorization: _, ...headers } = req.headers;
    const upstream = request(
      new URL(req.url, registry),
      { method: req.method, headers },
      (reply) => {
        res.writeHead(reply.statusCode, reply.headers);
        reply.pipe(res);
      },
    );
    upstream.on('error', () => res.writeHead(502).end());
    req.pipe(upstream);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { address, staged, releases, faults, close };
}
