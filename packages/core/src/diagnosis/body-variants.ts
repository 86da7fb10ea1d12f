import type { Budget } from './budget.js';
import type { DiagnosisCode } from './codes.js';
import { toText } from '../bytes.js';
import { fromBase64, fromLatin1, toLatin1 } from './encodings.js';
import { writings } from './json-writings.js';
import { variantsOf, type Variant } from './variants.js';

/**
 * Yields the bytes that the sender may have signed, the simplest change first.
 *
 * @returns true if the budget sufficed for all variants
 */
export async function* bodyVariants(
  body: Uint8Array,
  budget: Budget,
): AsyncGenerator<Variant, boolean> {
  const as = (code: DiagnosisCode, value: string | Uint8Array | undefined) =>
    variantsOf(code, body, value);
  yield* as('body_empty', '');
  if (body.length > budget.text || !(await budget.take(body.length))) return false;

  const text = toText(body);
  for (const change of text === undefined ? BYTES : TEXTS) {
    if (!(await budget.take(body.length))) return false;
    const [code, value] = change(body, text ?? '');
    yield* as(code, value);
  }
  if (text === undefined) return true;
  if (body.length > budget.parsed) return false;
  return yield* parsedVariants(text, body, budget);
}

type Change = (
  body: Uint8Array,
  text: string,
) => readonly [DiagnosisCode, string | Uint8Array | undefined];

/** Usual changes to any bytes. */
const BYTES: readonly Change[] = [
  (body) => ['body_decoded', toLatin1(body)],
  (body) => ['body_decoded', new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)],
];

/** Usual changes to a text. */
const TEXTS: readonly Change[] = [
  (_, text) => ['body_newline', text.replace(/\r?\n$/, '')],
  (_, text) => ['body_newline', `${text}\n`],
  (_, text) => ['body_newline', `${text}\r\n`],
  (_, text) => ['body_newline', trimBlanks(text)],
  (_, text) => ['body_newline', `${trimBlanks(text)}\n`],
  (_, text) => ['body_newline', ` ${text}`],
  (_, text) => ['body_newline', `${text} `],
  (_, text) => ['body_line_breaks', text.replace(/\r\n/g, '\n')],
  (_, text) => ['body_line_breaks', text.replace(/\r?\n/g, '\r\n')],
  (_, text) => ['body_bom', text.replace(/^\ufeff/, '')],
  (_, text) => ['body_bom', `\ufeff${text}`],
  (_, text) => ['body_base64', fromBase64(text)],
  // Undoes UTF-8 that was decoded as Latin-1 and encoded again.
  (_, text) => ['body_decoded', /^[\0-\xff]*$/.test(text) ? fromLatin1(text) : undefined],
  (body) => ['body_decoded', toLatin1(body)],
];

/**
 * Removes JSON whitespace at both ends. `trim()` would also remove a byte order mark. The
 * lookbehind keeps the time linear for long runs of blanks inside the text.
 */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
}

async function* parsedVariants(
  text: string,
  body: Uint8Array,
  budget: Budget,
): AsyncGenerator<Variant, boolean> {
  const as = (code: DiagnosisCode, value: string | Uint8Array | undefined) =>
    variantsOf(code, body, value);
  if (/^\d{1,3}(,\d{1,3})+$/.test(text)) {
    yield* as('body_buffer', Uint8Array.from(text.split(','), Number));
    return true;
  }
  if (!(await budget.take(text.length))) return false;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return true;
  }
  if (typeof parsed === 'string') {
    yield* as('body_reserialized', parsed);
    return true;
  }
  for (const value of enveloped(parsed)) {
    if (!(await budget.take(value.length))) return false;
    yield* as('body_enveloped', value);
    yield* as('body_enveloped', fromBase64(value));
  }
  const bytes = writtenBytes(parsed);
  if (bytes !== undefined) {
    yield* as('body_buffer', bytes);
    return true;
  }
  try {
    for (const written of writings(parsed)) {
      if (!(await budget.take(written.length))) return false;
      yield* as('body_reserialized', written);
    }
  } catch {
    return false; // nested too deeply
  }
  return true;
}

/**
 * Fields of envelopes. `body`: API Gateway, function URLs and ALB. `Message`: SNS. `Records`: SQS
 * and SNS on Lambda.
 */
const ENVELOPES = ['body', 'Message', 'rawBody', 'Records', 'Sns'] as const;
const MOST_ENVELOPED = 4;

/** Returns the texts in an envelope. Envelopes can be nested, such as SNS through SQS. */
function enveloped(parsed: unknown, depth = 4): string[] {
  if (typeof parsed !== 'object' || parsed === null || depth === 0) return [];
  const own = Array.isArray(parsed)
    ? parsed.slice(0, 1)
    : ENVELOPES.flatMap((name) => valueOf(parsed, name));
  const found = own.flatMap((value) =>
    typeof value === 'string'
      ? [value, ...enveloped(parse(value), depth - 1)]
      : enveloped(value, depth - 1),
  );
  return found.slice(0, MOST_ENVELOPED);
}

function valueOf(parsed: object, name: string): unknown[] {
  return Object.hasOwn(parsed, name) ? [(parsed as Record<string, unknown>)[name]] : [];
}

function parse(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the bytes if the value is the JSON of a Buffer or a Uint8Array. */
function writtenBytes(parsed: unknown): Uint8Array | undefined {
  const { type, data } = (parsed ?? {}) as { type?: unknown; data?: unknown };
  const isList = type === 'Buffer' && Array.isArray(data);
  const values: unknown[] = isList ? (data as unknown[]) : Object.values(parsed ?? {});
  const isBytesLike =
    isList || Object.keys(parsed ?? {}).every((key, index) => key === String(index));
  const isByte = (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256;
  return isBytesLike && values.every(isByte) ? Uint8Array.from(values as number[]) : undefined;
}
