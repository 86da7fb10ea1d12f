/** Undoes the usual changes to bodies, signatures and secrets until the signature is right. */
import { HmacKey, sign } from '#hmac';
import { isApiKey, isPlaceholder, MASK, type SecretList } from '../secret.js';
import { toText } from '../bytes.js';
import { bodyVariants } from './body-variants.js';
import type { Budget } from './budget.js';
import { MESSAGES, type DiagnosisCode } from './codes.js';
import { parseSignature, type ParsedSignature } from './parsed-signature.js';
import { secretVariants } from './secret-variants.js';
import { bytesOf, type Variant } from './variants.js';

export type DiagnoseOptions = {
  /** The body as the verifier got it: bytes, or a string that stands for its UTF-8 bytes. */
  readonly rawBody: Uint8Array | string;
  /** The unchanged value of the signature header. */
  readonly signature: unknown;
  /** The receiver's secret, or its list of secrets during a rotation. */
  readonly secret: SecretList;
};

export interface Diagnosis {
  /** True if the verifier accepts the signature. `causes` is then empty. */
  readonly matches: boolean;
  /** The first of `causes`. */
  readonly cause?: DiagnosisCode;
  /** The fault and its fix, in a sentence or two per cause. */
  readonly message: string;
  /**
   * All faults to fix together, in the order signature, secret, body. `unknown` if no known fault
   * makes the signature match. `body_too_complex` if the search could not try every change.
   */
  readonly causes: readonly DiagnosisCause[];
  /** Index in the list of secrets, if `secret` is a list and the causes are proven. */
  readonly secretIndex?: number;
}

export type DiagnosisCause = {
  readonly code: DiagnosisCode;
  readonly message: string;
  /** True if undoing all causes makes the signature match. False for an obvious fault. */
  readonly proven: boolean;
};

/** Never throws. */
export async function search(
  { rawBody, signature, secret }: DiagnoseOptions,
  budget: Budget,
): Promise<Diagnosis> {
  const parsed = parseSignature(signature);
  const keys = keysOf(secret);
  const body = bytesOf(rawBody);
  const found = await findCauses(parsed, keys, body, budget);
  if (typeof found === 'string') {
    return conclude(guess(parsed, keys, body?.subarray(0, budget.text), found), false);
  }
  return conclude(found.codes, true, Array.isArray(secret) ? found.secretIndex : undefined);
}

/** Returns the fault of a signature with an invalid form. */
export function diagnoseSpelling(signature: unknown): Diagnosis {
  return conclude(parseSignature(signature).codes, false);
}

type Codes = readonly DiagnosisCode[];

function conclude(codes: Codes, proven: boolean, secretIndex?: number): Diagnosis {
  const causes = codes.map((code) => ({ code, message: MESSAGES[code], proven }));
  const [first] = codes;
  return {
    matches: first === undefined,
    ...(first === undefined ? {} : { cause: first }),
    message:
      causes.map(({ message }) => message).join('\n') || 'The signature matches these bytes.',
    causes,
    ...(secretIndex === undefined ? {} : { secretIndex }),
  };
}

/** A key that may have made the signature, and the index of its secret in the list. */
interface Key extends Variant {
  readonly secretIndex: number;
  readonly hmac: HmacKey;
}

function keyOf(variant: Variant, secretIndex: number): Key {
  return { ...variant, secretIndex, hmac: new HmacKey(variant.value) };
}

function keysOf(secret: SecretList): Key[] {
  return [secret].flat().flatMap((each: unknown, secretIndex) => {
    const value = bytesOf(each);
    return value === undefined || value.length === 0 ? [] : [keyOf({ value }, secretIndex)];
  });
}

type Found = Pick<Key, 'secretIndex'> & { readonly codes: Codes };

/** Number of bodies to try with altered secrets too. */
const FEW = 24;

/**
 * Tries the fewest changes first: one of the secret, one of the body, then one of each. Returns
 * `unknown` or `body_too_complex` if nothing matches.
 */
async function findCauses(
  parsed: ParsedSignature,
  keys: readonly Key[],
  body: Uint8Array | undefined,
  budget: Budget,
): Promise<Found | DiagnosisCode> {
  if (body === undefined || parsed.digits === '' || keys.length === 0) return 'unknown';
  if (body.length > budget.body) return 'body_too_complex';
  for (const { hmac, secretIndex } of keys) {
    if (parsed.fits(await sign(hmac, body))) return { codes: parsed.codes, secretIndex };
  }

  const tryKeys = async (some: readonly Key[], candidate: Variant): Promise<Found | undefined> => {
    for (const { code, secretIndex, hmac } of some) {
      if (!(await budget.take(candidate.value.length))) return undefined;
      if (!parsed.fits(await sign(hmac, candidate.value))) continue;
      const codes = [...parsed.codes, code, candidate.code].filter((each) => each !== undefined);
      return { codes, secretIndex };
    }
    return undefined;
  };

  const altered: Key[] = [];
  for (const { secretIndex, value } of keys) {
    for (const variant of secretVariants(value)) {
      const key = keyOf(variant, secretIndex);
      const found = await tryKeys([key], { value: body });
      if (found !== undefined) return found;
      altered.push(key);
    }
  }

  const few: Variant[] = [];
  const candidates = bodyVariants(body, budget);
  let next = await candidates.next();
  for (; next.done !== true; next = await candidates.next()) {
    const found = await tryKeys(keys, next.value);
    if (found !== undefined) return found;
    if (few.length < FEW) few.push(next.value);
  }
  if (!next.value || body.length > budget.parsed) return 'body_too_complex';

  for (const candidate of few) {
    const found = await tryKeys(altered, candidate);
    if (found !== undefined) return found;
  }
  return (await budget.take(0)) ? 'unknown' : 'body_too_complex';
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
  keys: readonly Key[],
  body: Uint8Array | undefined,
  otherwise: DiagnosisCode,
): DiagnosisCode[] {
  const texts = keys.map(({ value }) => toText(value)?.trim());
  const [aboutSecret] =
    NO_SECRETS.find(([, is]) => texts.every((text) => text !== undefined && is(text))) ?? [];
  const aboutBody = body === undefined ? 'body_parsed' : guessAboutBody(body);
  const aboutSignature = parsed.digits === '' ? parsed.codes : [];
  const codes = [...aboutSignature, aboutSecret, aboutBody].filter((code) => code !== undefined);
  return codes.length === 0 ? [...parsed.codes, otherwise] : codes;
}

function guessAboutBody(body: Uint8Array): DiagnosisCode | undefined {
  const text = body.length <= 15 ? toText(body) : undefined;
  if (text === '' || text === '{}') return 'body_empty';
  if (text === '[object Object]') return 'body_parsed';
  if (body[0] === 0x1f && body[1] === 0x8b) return 'body_compressed';
  // Text decoders write U+FFFD, in UTF-8 EF BF BD, instead of invalid bytes.
  for (let at = body.indexOf(0xef); at >= 0; at = body.indexOf(0xef, at + 1)) {
    if (body[at + 1] === 0xbf && body[at + 2] === 0xbd) return 'body_decoded';
  }
  return undefined;
}
