/** Recognises the framework by its replies, and says how to read its raw body. */
import { STATUS_CODES } from 'node:http';
import type { WireReply } from '../wire.js';

type Sign = readonly [framework: string, matches: (reply: WireReply) => boolean];

const header =
  (name: string, pattern: RegExp) =>
  ({ headers }: WireReply): boolean =>
    pattern.test(headers.get(name) ?? '');

const SIGNS: readonly Sign[] = [
  ['Next.js', header('x-powered-by', /next\.js/i)],
  // Before NestJS, because their 404 replies differ in one word.
  [
    'Fastify',
    ({ body }) =>
      /^\{"message":"Route [A-Z]+:|^\{"statusCode":\d{3},"(?:code":"FST_|error":")/.test(body),
  ],
  ['NestJS', isNest],
  ['Express', header('x-powered-by', /express/i)],
  ['Express', ({ body }) => /<pre>Cannot (GET|HEAD|POST) /.test(body)],
  ['Laravel or PHP', header('x-powered-by', /php/i)],
  ['FastAPI', header('server', /uvicorn|hypercorn/i)],
  ['Django or Flask', header('server', /wsgiserver|gunicorn|werkzeug/i)],
  ['Python http.server', header('server', /basehttp/i)],
  ['Ruby', header('x-runtime', /./)],
  ['ASP.NET', header('server', /kestrel|iis/i)],
  ['Spring', ({ body }) => /"timestamp":.*"path":/.test(body)],
  [
    'Go',
    ({ headers, body }) =>
      headers.get('x-content-type-options') === 'nosniff' && /^404 page not found\n$/.test(body),
  ],
];

/**
 * Recognises NestJS's exception filter by the status and its phrase, because merchants write other
 * JSON with these names.
 */
function isNest({ status, body }: WireReply): boolean {
  if (body === '{"statusCode":500,"message":"Internal server error"}') return true;
  const phrase = STATUS_CODES[status] ?? '';
  if (body === `{"message":"${phrase}","statusCode":${status}}`) return true;
  return (
    /^\{"message":"Cannot [A-Z]+ \//.test(body) &&
    body.endsWith(`"error":"${phrase}","statusCode":${status}}`)
  );
}

/** @returns undefined if the replies do not show a framework */
export function frameworkOf(replies: readonly WireReply[]): string | undefined {
  return SIGNS.find(([, matches]) => replies.some(matches))?.[0];
}

/** The code that reads the raw body. */
export const RAW_BODY: Readonly<Record<string, string>> = {
  Express:
    "mount express.raw({ type: () => true, inflate: false, limit: '64kb' }) on this " +
    'route, before express.json()',
  'Next.js':
    'read Buffer.from(await request.arrayBuffer()) in the route; in pages/api export ' +
    'config = { api: { bodyParser: false } }',
  NestJS:
    'create the app with { bodyParser: false }, mount express.raw({ type: () => true, ' +
    "inflate: false, limit: '64kb' }) on this route, and a JSON parser on the others",
  Fastify:
    'in its own plugin, call removeAllContentTypeParsers(), then ' +
    "addContentTypeParser('*', { parseAs: 'buffer' }, …)",
  'Laravel or PHP': "read file_get_contents('php://input')",
  FastAPI: 'read await request.body()',
  'Django or Flask':
    'read request.body (Django) or request.get_data() (Flask), before request.json',
  'Python http.server': "read self.rfile.read(int(self.headers['Content-Length']))",
  Ruby: 'read request.raw_post (Rails) or request.body.read (Rack)',
  'ASP.NET': 'call Request.EnableBuffering() and read the bytes of Request.Body',
  Spring: 'take @RequestBody byte[] body',
  Go: 'read io.ReadAll(http.MaxBytesReader(w, r.Body, 65536))',
};

/** The constant-time comparison in the framework's language. */
export const COMPARE: Readonly<Record<string, string>> = {
  'Laravel or PHP': 'hash_equals',
  FastAPI: 'hmac.compare_digest',
  'Django or Flask': 'hmac.compare_digest',
  'Python http.server': 'hmac.compare_digest',
  Ruby: 'OpenSSL.secure_compare',
  'ASP.NET': 'CryptographicOperations.FixedTimeEquals',
  Spring: 'MessageDigest.isEqual',
  Go: 'hmac.Equal',
};
