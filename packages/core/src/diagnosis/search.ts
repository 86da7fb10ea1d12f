/** Undoes the usual changes to bodies and secrets until the signature is right. */
import { HmacKey, sign } from '#hmac';
import { toText } from '../bytes.js';
import { importSecrets, type SecretList } from '../secret.js';
import { describeGuarded } from '../thrown.js';
import { MESSAGES, type DiagnosisCode } from './codes.js';
import { bytesOf, parseJson } from './decode.js';
import { BODY_CHANGES, SECRET_CHANGES, variantsOf, type Variant } from './variants.js';

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
  /** True if the signature matches the body. */
  readonly matches: boolean;
  /**
   * The first problem, in the order secret, body. `unknown` if no change makes the signature match
   * and no problem is obvious, and `body_too_complex` if some changes to the body were not tried.
   */
  readonly cause?: DiagnosisCode;
  /** Explains each problem and its fix, or states that the signature matches. */
  readonly message: string;
  /** True if the signature matches once these problems are fixed. */
  readonly proven: boolean;
}

/**
 * Finds out why a signature does not match. Undoes common changes to bodies and secrets until the
 * signature matches. Blocks the event loop for up to a second, so use it for development and
 * support. Undoes no changes if the body is over 16,384 bytes. The cause can then be
 * `body_too_complex`.
 *
 * Never throws, even if the body, signature or secret has the wrong type. The result never
 * contains a secret, a signature or a body.
 */
export async function diagnose({
  rawBody,
  signature,
  secret,
}: DiagnoseOptions): Promise<Diagnosis> {
  const body = bytesOf(rawBody);
  const searching = findCauses(signature, keysOf(secret), body);
  const found = await searching.catch((): DiagnosisCode => 'body_too_complex');
  if (typeof found !== 'string') return conclude(found, true);
  const guesses = guess(signature, secret, body);
  return conclude(guesses.length === 0 ? [found] : guesses, false, problemOf(secret));
}

function isMac(signature: unknown): signature is string {
  return typeof signature === 'string' && /^[0-9a-f]{64}$/.test(signature);
}

/** @param problem explains `secret_invalid` */
function conclude(codes: readonly DiagnosisCode[], proven: boolean, problem = ''): Diagnosis {
  const [cause] = codes;
  if (cause === undefined)
    return { matches: true, message: 'The signature matches these bytes.', proven };
  const messages = codes.map((code) =>
    code === 'secret_invalid' ? `${MESSAGES[code]}: ${problem}.` : MESSAGES[code],
  );
  return { matches: false, cause, message: messages.join(' '), proven };
}

/** Returns the keys that may have made the signature. A key is never empty. */
function keysOf(secret: SecretList): Variant[] {
  return [secret].flat().flatMap((each: unknown) => {
    const value = bytesOf(each);
    return value === undefined || value.length === 0 ? [] : [{ value }];
  });
}

const LONGEST_BODY = 16_384;

async function findCauses(
  signature: unknown,
  keys: readonly Variant[],
  body: Uint8Array | undefined,
): Promise<readonly DiagnosisCode[] | DiagnosisCode> {
  if (!isMac(signature) || body === undefined) return 'unknown';
  let [hmacKey, hmacKeyOf]: [HmacKey?, Variant?] = [];
  for (const [key, variant] of attempts(keys, body)) {
    // A new key costs as much as a short body.
    if (hmacKeyOf !== key) [hmacKey, hmacKeyOf] = [new HmacKey(key.value), key];
    if ((await sign(hmacKey!, variant.value)) !== signature) continue;
    return [key.code, variant.code].filter((code) => code !== undefined);
  }
  return body.length > LONGEST_BODY ? 'body_too_complex' : 'unknown';
}

/** Number of bodies to try with altered secrets too. */
const FEW = 24;

/** Yields the secret and the body as they are, then with a change of one, then of both. */
function* attempts(
  keys: readonly Variant[],
  body: Uint8Array,
): Generator<[key: Variant, body: Variant]> {
  const plain = { value: body };
  for (const key of keys) yield [key, plain];
  if (body.length > LONGEST_BODY) return;
  const few: Variant[] = [];
  const secrets = keys.flatMap(({ value }) => [...variantsOf(value, SECRET_CHANGES)]);
  for (const key of secrets) yield [key, plain];
  if (body.length > 0) for (const key of keys) yield [{ ...plain, code: 'secret_swapped' }, key];
  for (const variant of variantsOf(body, BODY_CHANGES)) {
    for (const key of keys) yield [key, variant];
    if (few.length < FEW) few.push(variant);
  }
  for (const key of secrets) for (const variant of few) yield [key, variant];
}

/** Returns the obvious faults that lose the signed bytes. */
function guess(
  signature: unknown,
  secret: SecretList,
  body: Uint8Array | undefined,
): DiagnosisCode[] {
  const guesses: DiagnosisCode[] = isMac(signature) ? [] : ['signature_malformed'];
  if (problemOf(secret) !== undefined) guesses.push('secret_invalid');
  const aboutBody = guessAboutBody(body);
  return aboutBody === undefined ? guesses : [...guesses, aboutBody];
}

/** Returns the reason why a receiver rejects the secret at its start. */
function problemOf(secret: SecretList): string | undefined {
  try {
    importSecrets(secret);
    return undefined;
  } catch (error) {
    return describeGuarded(error);
  }
}

function guessAboutBody(body: Uint8Array | undefined): DiagnosisCode | undefined {
  if (body === undefined) return 'body_parsed';
  const text = toText(body);
  if (text === '' || text === '{}') return 'body_empty';
  if (text?.startsWith('[object ')) return 'body_parsed';
  // Decoders write U+FFFD instead of invalid bytes.
  if (text?.includes('\ufffd')) return 'body_decoded';
  return text === undefined || parseJson(text) === undefined ? 'body_foreign' : undefined;
}
