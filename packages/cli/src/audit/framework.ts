/** Recognises the framework by its replies. */
import { STATUS_CODES } from 'node:http';
import type { WireReply } from '@paylink/testing/internal';

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
