/** Undoes the usual changes to bodies, signatures and secrets until the signature is right. */
import { HmacKey, sign } from '#hmac';
import { toText } from '../bytes.js';
import { isApiKey, isPlaceholder, MASK, type SecretList } from '../secret.js';
import { BODY_CHANGES } from './body-variants.js';
import { MESSAGES, type DiagnosisCode } from './codes.js';
import { parseSignature, type ParsedSignature } from './parsed-signature.js';
import { NEARBY_SECRETS, SECRET_CHANGES } from './secret-variants.js';
import { bytesOf, parseJson, variantsOf, type Variant } from './variants.js';

export type DiagnoseOptions = {
  /** The body as the verifier received it: bytes, or a string that stands for its UTF-8 bytes. */
  readonly rawBody: Uint8Array | string;
  /** The unchanged value of the signature header. */
  readonly signature: unknown;
  /** The receiver's secret, or its list of secrets during a rotation. */
  readonly secret: SecretList;
};

/** The result of `diagnose`. */
export interface Diagnosis {
  /** True if the signature matches the body. `causes` is then empty. */
  readonly matches: boolean;
  /** The first of `causes`. */
  readonly cause?: DiagnosisCode;
  /** Explains each cause and its fix in one line, or states that the signature matches. */
  readonly message: string;
  /**
   * All problems that must be fixed together, in the order signature, secret, body. Contains
   * `unknown` if no change makes the signature match and no problem is obvious, and
   * `body_too_complex` if some changes to the body were not tried.
   */
  readonly causes: readonly DiagnosisCause[];
}

export type DiagnosisCause = {
  readonly code: DiagnosisCode;
  readonly message: string;
  /** True if undoing all causes makes the signature match. */
  readonly proven: boolean;
};

interface Limits {
  /** Bytes of the longest body whose changes are tried. */
  readonly body: number;
  /** Bytes to write and hash in total. */
  readonly work: number;
}

/** Never throws. */
export async function search(
  { rawBody, signature, secret }: DiagnoseOptions,
  limits: Limits,
): Promise<Diagnosis> {
  const parsed = parseSignature(signature);
  const keys = keysOf(secret);
  const body = bytesOf(rawBody);
  const searching = findCauses(parsed, keys, body, limits);
  const found = await searching.catch((): DiagnosisCode => 'body_too_complex');
  return typeof found === 'string'
    ? conclude(guess(parsed, keys, body, found), false)
    : conclude(found, true);
}

/** Judges only a signature's form. The form can have many faults: returns the first. */
export function searchForm(signature: unknown): Diagnosis {
  return conclude(parseSignature(signature).codes.slice(0, 1), false);
}

type Codes = readonly DiagnosisCode[];

function conclude(codes: Codes, proven: boolean): Diagnosis {
  const causes = codes.map((code) => ({ code, message: MESSAGES[code], proven }));
  const message = causes.map((cause) => cause.message).join('\n');
  const [cause] = codes;
  if (cause !== undefined) return { matches: false, cause, message, causes };
  return { matches: true, message: 'The signature matches these bytes.', causes };
}

/** Returns the keys that may have made the signature. A key is never empty. */
function keysOf(secret: SecretList): Variant[] {
  return [secret].flat().flatMap((each: unknown) => {
    const value = bytesOf(each);
    return value === undefined || value.length === 0 ? [] : [{ value }];
  });
}

/** The fixed cost of one attempt in bytes: a key, an encoding, two calls. */
const ATTEMPT = 512;
/** The bytes of one turn of the event loop. */
const TURN = 65_536;

async function findCauses(
  { codes, fits }: ParsedSignature,
  keys: readonly Variant[],
  body: Uint8Array | undefined,
  limits: Limits,
): Promise<Codes | DiagnosisCode> {
  if (fits === undefined || body === undefined) return 'unknown';
  // A receiver is writing its reply.
  await otherWork();
  for (const { value } of keys) {
    if (fits(await sign(new HmacKey(value), body))) return codes;
  }
  if (body.length > limits.body) return 'body_too_complex';
  let [left, next] = [limits.work, limits.work - TURN];
  let [hmacKey, hmacKeyOf]: [HmacKey?, Variant?] = [];
  for (const [key, variant] of attempts(keys, body)) {
    left -= variant.value.length + ATTEMPT;
    if (left < 0) return key.code === undefined ? 'body_too_complex' : 'unknown';
    if (left < next) {
      next = left - TURN;
      await otherWork();
    }
    // A new key costs as much as a short body.
    if (hmacKeyOf !== key) [hmacKey, hmacKeyOf] = [new HmacKey(key.value), key];
    if (!fits(await sign(hmacKey!, variant.value))) continue;
    return [...codes, key.code, variant.code].filter((code) => code !== undefined);
  }
  return 'unknown';
}

function otherWork(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Number of bodies to try with altered secrets too. */
const FEW = 24;

/** Yields one change of the secret, one of the body, one of each, then the many nearby secrets. */
function* attempts(
  keys: readonly Variant[],
  body: Uint8Array,
): Generator<[key: Variant, body: Variant]> {
  const plain = { value: body };
  const few: Variant[] = [];
  const secrets = keys.flatMap(({ value }) => [...variantsOf(value, SECRET_CHANGES)]);
  for (const key of secrets) yield [key, plain];
  if (body.length > 0) for (const key of keys) yield [{ ...plain, code: 'secret_swapped' }, key];
  for (const variant of variantsOf(body, BODY_CHANGES)) {
    for (const key of keys) yield [key, variant];
    if (few.length < FEW) few.push(variant);
  }
  for (const key of secrets) for (const variant of few) yield [key, variant];
  for (const { value } of keys)
    for (const key of variantsOf(value, NEARBY_SECRETS)) yield [key, plain];
}

/** Texts that were never a secret. The first one stands for an empty list. */
const NO_SECRETS: readonly (readonly [DiagnosisCode, (text: string) => boolean])[] = [
  ['secret_missing', () => false],
  ['secret_api_key', isApiKey],
  ['secret_placeholder', isPlaceholder],
  ['secret_masked', (text) => MASK.test(text)],
];

/** Returns the obvious faults that lose the signed bytes. */
function guess(
  parsed: ParsedSignature,
  keys: readonly Variant[],
  body: Uint8Array | undefined,
  otherwise: DiagnosisCode,
): DiagnosisCode[] {
  const texts = keys.map(({ value }) => toText(value)?.trim());
  const [aboutSecret] =
    NO_SECRETS.find(([, is]) => texts.every((text) => text !== undefined && is(text))) ?? [];
  const aboutBody = body === undefined ? 'body_parsed' : guessAboutBody(body);
  const isForeign = parsed.fits === undefined || parsed.codes.includes('signature_algorithm');
  const aboutSignature = isForeign ? parsed.codes : [];
  const codes = [...aboutSignature, aboutSecret, aboutBody].filter((code) => code !== undefined);
  return codes.length === 0 ? [...parsed.codes, otherwise] : codes;
}

/** The first characters of a body that was never JSON. */
const NO_JSON: readonly (readonly [RegExp, DiagnosisCode])[] = [
  [/^(\{\})?$/, 'body_empty'],
  [/^\[object |^\{ ?[\w'][^"]*(:|=>?)/, 'body_parsed'], // An object as a log prints it.
  [/^(\x1f\x8b|H4sI)/, 'body_compressed'],
  [/^[\w.%[\]-]+=[^&]*(&|$)/, 'body_escaped'],
  [/\xef\xbf\xbd/, 'body_decoded'], // U+FFFD, which decoders write instead of invalid bytes
];

function guessAboutBody(body: Uint8Array): DiagnosisCode | undefined {
  // Each byte as one character.
  const text = new TextDecoder('latin1').decode(body.subarray(0, 65_536));
  const [, known] = NO_JSON.find(([form]) => form.test(text)) ?? [];
  if (known !== undefined || parseJson(toText(body) ?? '') !== undefined) return known;
  return /^\s*[{[]/.test(text) ? 'body_truncated' : 'body_foreign';
}
