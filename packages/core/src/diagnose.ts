/**
 * Says why a signature does not match, for a developer at work. It tries what usually happens to bodies, signatures and secrets
 * until one of it makes the signature right; nothing that it finds is ever accepted by the verifier.
 */
import { HmacKey, sign } from '#hmac';
import type { SecretList } from './secret.js';
import { isBytes } from './values.js';

export interface DiagnoseOptions {
  /** The body as the verifier had it: bytes, or a text that stands for its UTF-8 bytes. */
  readonly rawBody: Uint8Array | string;
  /** The value of the signature header as it came. */
  readonly signature: unknown;
  /** The secret that the receiver is configured with, or the list of a rotation. */
  readonly secret: SecretList;
}

export interface Diagnosis {
  /** Whether the verifier accepts: then there is no cause. */
  readonly matches: boolean;
  /** The first of `causes`. */
  readonly cause?: DiagnosisCode;
  /** What is wrong and which line to change, in a sentence or two for each cause. Holds no secret, signature or body. */
  readonly message: string;
  /**
   * All that has to be put right together; in the order signature, secret, body. `unknown` where nothing that is known makes
   * the signature right.
   */
  readonly causes: readonly DiagnosisCause[];
  /** Of a list of secrets: the index of the one that the signature is of, once everything is put right. */
  readonly secretIndex?: number;
}

export interface DiagnosisCause {
  readonly code: DiagnosisCode;
  readonly message: string;
  /** Whether the signature is right once this is undone. False for a fault that is plain, but loses what was signed. */
  readonly proven: boolean;
}

/** Stable: branch on these, never on the messages. */
export type DiagnosisCode = keyof typeof MESSAGES;

const RAW_BYTES = 'Verify the bytes as they were received: take the raw body before any parser, and keep parsers off this route.';

const MESSAGES = {
  signature_missing: 'There is no signature: is the header X-Service-Signature read, and does a proxy let it through?',
  signature_repeated:
    'There is more than one signature: the header was sent twice, or a proxy has added one. Only one is accepted.',
  signature_blanks: 'The signature has blanks or a line break around it: hand over the header’s value as it came.',
  signature_quoted: 'The signature is in quotes: the service sends it without.',
  signature_prefixed:
    'The signature has a prefix such as "sha256=": the service sends the 64 hex digits alone. Is this its header?',
  signature_base64: 'The signature is in base64: the service sends lower-case hex. Sign with digest("hex").',
  signature_uppercase: 'The signature is in upper-case hex: the service sends lower case, and no other spelling is accepted.',
  signature_truncated: 'The signature is cut off: it must have all of its 64 hex digits.',
  signature_extended: 'There is something behind the signature: it must have 64 hex digits and nothing else.',
  signature_malformed:
    'The signature is not 64 lower-case hex digits, nor another spelling of a SHA-256: is this the right header?',
  signature_algorithm: 'The signature has the length of another hash (SHA-1 or SHA-512): the service signs with HMAC-SHA256.',
  secret_missing: 'There is no secret: is its environment variable set where this process runs?',
  secret_placeholder: 'The secret is a placeholder, such as "undefined": how is it read from the environment?',
  secret_api_key: 'The secret is an API key (sk_live_…): the merchant portal has another value for webhooks.',
  secret_blanks:
    'The secret has a blank or a line break at one end that the signer’s has not, or the other way round: store it without.',
  secret_quoted: 'The secret is in quotes: store it without them.',
  secret_assignment: 'The secret begins with its own name, as a line of a .env file does: store only what stands after the "=".',
  secret_encoding:
    'One side takes the secret for its characters, the other for the bytes that they spell in hex or base64. The characters, as the portal shows them, are the key.',
  body_parsed: `The body is an object that a parser made, and not bytes. ${RAW_BYTES}`,
  body_reserialized: `A JSON parser has read the body, and it was written again with other bytes (spacing, order of keys, escapes, numbers). ${RAW_BYTES}`,
  body_buffer: `The body is the written form of a Buffer, not its bytes: somebody has called JSON.stringify or String on it. ${RAW_BYTES}`,
  body_newline:
    'A line break or blanks at the end or the beginning of the body came or went: the bytes must be those that were signed. Was it saved by an editor, or sent with echo in place of printf?',
  body_line_breaks: 'The line breaks of the body were changed (LF, CR LF): was it saved on another system, or sent as text?',
  body_bom: `A byte order mark in front of the body came or went, as text decoders and editors do. ${RAW_BYTES}`,
  body_base64: 'The body is in base64, as Lambda and API Gateway hand it over: decode it first, where isBase64Encoded says so.',
  body_decoded: `The body was decoded as text and written again, which changed bytes. ${RAW_BYTES}`,
  body_empty: 'The body is empty, or was: a parser that ran first has consumed it. Register the webhook above the parser.',
  body_compressed:
    'The body is compressed: the signature is over the bytes that the service sent, and it sends them without Content-Encoding.',
  unknown:
    'Nothing that usually happens makes the signature right. Most likely the secret is another one: of another endpoint or environment, or one that was replaced in the portal. Else the body was changed on its way in a manner that leaves no trace: compare its length and SHA-256 on both sides.',
} as const;

const MATCHES = 'The signature is that of these bytes.';

/**
 * Says why a signature does not match, or that it does. For development and support: it does much more work than a verifier.
 *
 * Never throws for what it is given, and never tells a secret, a signature or a body.
 */
export async function diagnose({ rawBody, signature, secret }: DiagnoseOptions): Promise<Diagnosis> {
  const given = readSignature(signature);
  const secrets = listOf(secret);
  const body = bytesOf(rawBody);
  const found = body === undefined ? undefined : await findCauses(given, secrets, body);
  if (found === undefined) return conclude(guesses(given, secrets, rawBody, body), false);
  return conclude(found.codes, true, Array.isArray(secret) ? found.secretIndex : undefined);
}

function conclude(codes: readonly DiagnosisCode[], proven: boolean, secretIndex?: number): Diagnosis {
  const causes = codes.map((code) => ({ code, message: MESSAGES[code], proven }));
  const [first] = codes;
  return {
    matches: first === undefined,
    ...(first === undefined ? {} : { cause: first }),
    message: first === undefined ? MATCHES : causes.map(({ message }) => message).join('\n'),
    causes,
    ...(secretIndex === undefined ? {} : { secretIndex }),
  };
}

/** Something that was tried, and what it stands for if it fits; no code for what was there. */
interface Variant<T> {
  readonly code?: DiagnosisCode;
  readonly value: T;
}

interface Found {
  readonly codes: readonly DiagnosisCode[];
  readonly secretIndex: number;
}

/** The fewest changes first: one of the body, one of the secret, then one of each. */
async function findCauses(given: GivenSignature, secrets: readonly Uint8Array[], body: Uint8Array): Promise<Found | undefined> {
  if (given.digits === '') return undefined;
  const bodies = bodyVariants(body);
  // Of whole re-serialisations the plainest, since there are many and each costs a MAC for every secret.
  const few = body.length <= LONG_BODY ? bodies.slice(0, FEW) : [];
  const keyed = secrets.flatMap((secret, secretIndex) =>
    secretVariants(secret).map(({ code, value }) => ({ code, secretIndex, key: new HmacKey(value) })),
  );
  const plain = keyed.filter(({ code }) => code === undefined);
  const altered = keyed.filter(({ code }) => code !== undefined);
  const attempts = [
    [plain, bodies.slice(0, 1)],
    [altered, bodies.slice(0, 1)],
    [plain, bodies.slice(1)],
    [altered, few.slice(1)],
  ] as const;
  for (const [keys, candidates] of attempts) {
    for (const { code, secretIndex, key } of keys) {
      for (const candidate of candidates) {
        if (!given.fits(await sign(key, candidate.value))) continue;
        const codes = [...given.codes, code, candidate.code].filter((each) => each !== undefined);
        return { codes, secretIndex };
      }
    }
  }
  return undefined;
}

/** What is plainly wrong, though what was signed cannot be had back. */
function guesses(
  given: GivenSignature,
  secrets: readonly Uint8Array[],
  rawBody: unknown,
  body: Uint8Array | undefined,
): DiagnosisCode[] {
  const codes: DiagnosisCode[] = given.digits === '' ? [...given.codes] : [];
  const texts = secrets.map(toText);
  if (secrets.length === 0) codes.push('secret_missing');
  else if (texts.every((text) => text?.trim().startsWith('sk_live_'))) codes.push('secret_api_key');
  else if (texts.every((text) => text !== undefined && PLACEHOLDER.test(text))) codes.push('secret_placeholder');
  if (body === undefined) codes.push('body_parsed');
  else codes.push(...guessesAboutBody(body));
  if (codes.length === 0) codes.push(...given.codes, 'unknown');
  return codes;
}

const PLACEHOLDER = /^\s*(undefined|null|changeme|\[object object\])\s*$/i;

function guessesAboutBody(body: Uint8Array): DiagnosisCode[] {
  const text = toText(body);
  if (text === '' || text === '{}') return ['body_empty'];
  if (text === '[object Object]') return ['body_parsed'];
  if (body[0] === 0x1f && body[1] === 0x8b) return ['body_compressed'];
  return text?.includes('\ufffd') === true ? ['body_decoded'] : [];
}

/** The digits that a signature may stand for, and what is wrong with how it is spelt. */
interface GivenSignature {
  /** Lower-case hex, of any length; empty where there is nothing to compare with. */
  readonly digits: string;
  readonly codes: readonly DiagnosisCode[];
  readonly fits: (mac: string) => boolean;
}

const NO_SIGNATURE = { digits: '', fits: () => false };
/** Whatever is longer is no signature in any spelling, and some expressions here are not linear. */
const LONGEST = 1_000;
/** Fewer digits could be right by chance. */
const FEWEST_DIGITS = 8;

function readSignature(signature: unknown): GivenSignature {
  const list = (Array.isArray(signature) ? (signature as unknown[]) : [signature]).filter((value) => value !== undefined);
  const texts = list.flatMap((value) => (typeof value === 'string' ? value.split(/,(?!v\d)/) : []));
  const tooLong = texts.reduce((length, text) => length + text.length, 0) > LONGEST;
  if (tooLong || (list.length > 0 && texts.length === 0)) return { ...NO_SIGNATURE, codes: ['signature_malformed'] };
  if (texts.every((text) => text.trim() === '')) return { ...NO_SIGNATURE, codes: ['signature_missing'] };
  const all = texts.map(readSpelling);
  const [first] = all;
  if (all.length === 1) return first!;
  return {
    digits: all.map(({ digits }) => digits).join(''),
    codes: ['signature_repeated'],
    fits: (mac) => all.some(({ fits }) => fits(mac)),
  };
}

function readSpelling(signature: string): GivenSignature {
  const codes: DiagnosisCode[] = [];
  let text = signature;
  const strip = (pattern: RegExp, code: DiagnosisCode): void => {
    const stripped = text.replace(pattern, '');
    if (stripped === text) return;
    text = stripped;
    codes.push(code);
  };
  strip(/^\s+|\s+$/g, 'signature_blanks');
  strip(/^["'`<]|["'`>]$/g, 'signature_quoted');
  strip(/^(?:t=\d+,)?(?:(?:hmac[-_]?)?sha-?256|v\d+|signature)[=:,\s]\s*|^0x/i, 'signature_prefixed');

  const decoded = /^[\w+/-]{43}=?$/.test(text) ? fromBase64(text) : undefined;
  if (decoded?.length === 32) {
    const digits = toHex(decoded);
    return { digits, codes: [...codes, 'signature_base64'], fits: (mac) => mac === digits };
  }
  if (/^[0-9a-f]*[A-F][0-9a-f]*$/i.test(text) && text !== text.toLowerCase()) codes.push('signature_uppercase');
  const digits = /^[0-9a-f]*/.exec(text.toLowerCase())![0];
  if (text.length === 64 && digits.length === 64) return { digits, codes, fits: (mac) => mac === digits };
  // A SHA-1 in hex, and a SHA-512.
  if (digits.length === text.length && [40, 128].includes(text.length)) return { ...NO_SIGNATURE, codes: ['signature_algorithm'] };
  if (digits.length >= 64) {
    return { digits, codes: [...codes, 'signature_extended'], fits: (mac) => digits.startsWith(mac) };
  }
  if (digits.length === text.length && digits.length >= FEWEST_DIGITS) {
    return { digits, codes: [...codes, 'signature_truncated'], fits: (mac) => mac.startsWith(digits) };
  }
  return { ...NO_SIGNATURE, codes: ['signature_malformed'] };
}

function listOf(secret: SecretList): Uint8Array[] {
  const list: readonly unknown[] = Array.isArray(secret) ? (secret as unknown[]) : [secret];
  return list.map(bytesOf).filter((bytes): bytes is Uint8Array => bytes !== undefined && bytes.length > 0);
}

function secretVariants(secret: Uint8Array): Variant<Uint8Array>[] {
  const text = toText(secret);
  const variants: Variant<string | Uint8Array | undefined>[] = [{ value: secret }];
  const add = (code: DiagnosisCode, ...values: (string | Uint8Array | undefined)[]): void => {
    variants.push(...values.map((value) => ({ code, value })));
  };
  if (text !== undefined) {
    const trimmed = text.trim();
    // The two characters \ and n too: what a shell or a .env file makes of an escape.
    add('secret_blanks', trimmed, trimmed.replace(/(\\r|\\n)+$/, ''), `${text}\n`, `${text}\r\n`, `${text} `, ` ${text}`);
    add('secret_quoted', trimmed.replace(/^(["'`])(.*)\1$/s, '$2'), `"${text}"`, `'${text}'`);
    add('secret_assignment', trimmed.replace(/^(export\s+)?[A-Z_][A-Z0-9_]*\s*[=:]\s*(["']?)(.*)\2$/is, '$3'));
    const bare = trimmed.replace(/^whsec_/, '');
    add('secret_encoding', fromHex(bare), fromBase64(bare), bare);
  }
  add('secret_encoding', toHex(secret), toHex(secret).toUpperCase(), toBase64(secret), toBase64(secret).replace(/=+$/, ''));
  return unlike(variants);
}

/** How many of the variants below are tried with an altered secret too. */
const FEW = 24;
/** Above this many bytes a body is not written again in all those ways: each costs a hash of it. */
const LONG_BODY = 262_144;

function bodyVariants(body: Uint8Array): Variant<Uint8Array>[] {
  const text = toText(body);
  const variants: Variant<string | Uint8Array | undefined>[] = [{ value: body }];
  const add = (code: DiagnosisCode, ...values: (string | Uint8Array | undefined)[]): void => {
    variants.push(...values.map((value) => ({ code, value })));
  };
  if (text !== undefined) {
    const trimmed = trimBlanks(text);
    add('body_newline', text.replace(/\r?\n$/, ''), `${text}\n`, `${text}\r\n`, trimmed, `${trimmed}\n`, ` ${text}`, `${text} `);
    add('body_line_breaks', text.replace(/\r\n/g, '\n'), text.replace(/\r?\n/g, '\r\n'));
    add('body_bom', text.replace(/^\ufeff/, ''), `\ufeff${text}`);
    if (/^[\w+/-]+={0,2}\s*$/.test(text)) add('body_base64', fromBase64(trimmed));
    // UTF-8 that was taken for Latin-1 and written as UTF-8 again.
    if (/^[\0-\xff]*$/.test(text))
      add(
        'body_decoded',
        Uint8Array.from(text, (character) => character.charCodeAt(0)),
      );
  }
  if (body.length <= LONG_BODY) add('body_decoded', Array.from(body, toCharacter).join(''));
  if (text === undefined) add('body_decoded', new TextDecoder('utf-8', { ignoreBOM: true }).decode(body));
  if (body.length > 0) add('body_empty', '');
  if (text !== undefined && body.length <= LONG_BODY) variants.push(...parsedVariants(text));
  return unlike(variants);
}

/** Without the blanks of JSON at both ends: trim() would take a byte order mark as well. No expression, since one is not linear. */
function trimBlanks(text: string): string {
  const isBlank = (at: number): boolean => ' \t\r\n'.includes(text[at]!);
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(start)) start++;
  while (end > start && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

function toCharacter(byte: number): string {
  return String.fromCharCode(byte);
}

function parsedVariants(text: string): Variant<string | Uint8Array>[] {
  if (/^\d{1,3}(,\d{1,3})+$/.test(text)) return [{ code: 'body_buffer', value: Uint8Array.from(text.split(','), Number) }];
  try {
    const parsed: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (typeof parsed === 'string') return [{ code: 'body_reserialized', value: parsed }];
    const bytes = writtenBytes(parsed);
    if (bytes !== undefined) return [{ code: 'body_buffer', value: bytes }];
    return writings(parsed).map((value) => ({ code: 'body_reserialized', value }));
  } catch {
    // No JSON, or nested more deeply than can be written.
    return [];
  }
}

/** What JSON makes of a Buffer, or of a Uint8Array. */
function writtenBytes(parsed: unknown): Uint8Array | undefined {
  const { type, data } = (parsed ?? {}) as { type?: unknown; data?: unknown };
  const isList = type === 'Buffer' && Array.isArray(data);
  const values: unknown[] = isList ? (data as unknown[]) : Object.values(parsed ?? {});
  const isBytesLike = isList || Object.keys(parsed ?? {}).every((key, index) => key === String(index));
  const isByte = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256;
  return isBytesLike && values.length > 0 && values.every(isByte) ? Uint8Array.from(values as number[]) : undefined;
}

/** How one JSON library writes: JavaScript's by default. */
interface Style {
  readonly colon: string;
  readonly comma: string;
  readonly indent: string;
  readonly sorted: boolean;
  readonly escape: (json: string) => string;
  readonly float: boolean;
}

const asIs = (json: string): string => json;
const unicode = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const ascii = (json: string): string => json.replace(/[\x7f-\uffff]/g, unicode);
const slashes = (json: string): string => json.replaceAll('/', '\\/');
const ESCAPES = [
  asIs,
  ascii, // Python
  slashes,
  (json: string) => slashes(ascii(json)), // PHP
  (json: string) => json.replace(/[<>&\u2028\u2029]/g, unicode), // Go
  (json: string) => json.replace(/[<>&'+`\x7f-\uffff]/g, (character) => `\\u${unicode(character).slice(2).toUpperCase()}`), // .NET
];
const SPACINGS = [
  { colon: ':', comma: ',', indent: '' },
  { colon: ': ', comma: ', ', indent: '' },
  { colon: ': ', comma: ',', indent: '  ' },
  { colon: ': ', comma: ',', indent: '    ' },
  { colon: ': ', comma: ',', indent: '\t' },
];

/** The plainest first. */
function writings(parsed: unknown): string[] {
  const texts = new Set<string>();
  for (const end of ['', '\n']) {
    for (const float of [false, true]) {
      for (const escape of ESCAPES) {
        for (const sorted of [false, true]) {
          for (const spacing of SPACINGS) texts.add(write(parsed, { ...spacing, escape, sorted, float }) + end);
        }
      }
    }
  }
  return [...texts];
}

function write(value: unknown, style: Style, depth = 0): string {
  if (typeof value === 'string') return style.escape(JSON.stringify(value));
  if (typeof value === 'number' && style.float && Number.isSafeInteger(value)) return `${value}.0`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = (item: unknown): string => write(item, style, depth + 1);
  if (Array.isArray(value)) return bracketed('[]', (value as unknown[]).map(inner), style, depth);
  const entries = Object.entries(value);
  if (style.sorted) entries.sort(([a], [b]) => (a < b ? -1 : 1));
  const members = entries.map(([key, item]) => style.escape(JSON.stringify(key)) + style.colon + inner(item));
  return bracketed('{}', members, style, depth);
}

function bracketed(brackets: string, items: readonly string[], { comma, indent }: Style, depth: number): string {
  const [open, close] = brackets as unknown as [string, string];
  if (items.length === 0 || indent === '') return open + items.join(comma) + close;
  const line = `\n${indent.repeat(depth + 1)}`;
  return open + line + items.join(comma + line) + `\n${indent.repeat(depth)}` + close;
}

/** As bytes, and each only once; the first is what was given. What changes nothing is no cause. */
function unlike(variants: readonly Variant<string | Uint8Array | undefined>[]): Variant<Uint8Array>[] {
  const [given, ...rest] = variants;
  const original = bytesOf(given!.value)!;
  const texts = new Set<unknown>();
  const others = rest.flatMap(({ code, value }) => {
    if (code === undefined || value === undefined || texts.has(value)) return [];
    texts.add(value);
    const bytes = bytesOf(value)!;
    // An HMAC has no empty key, and of a body that is empty something else is said.
    const isCause = !isEqual(bytes, original) && (bytes.length > 0 || code === 'body_empty');
    return isCause ? [{ code, value: bytes }] : [];
  });
  return [{ value: original }, ...others];
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  return isBytes(value) ? value : undefined;
}

/** The text whose UTF-8 these bytes are, a byte order mark included. */
function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 === 1 || !/^[0-9a-f]+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, toCharacter).join(''));
}

/** Base64 or base64url, with or without padding. */
function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}
