/** Undoes the usual changes to bodies, signatures and secrets until the signature is right. */
import { HmacKey, sign } from '#hmac';
import { toHex, toText } from '../bytes.js';
import { isApiKey, isPlaceholder, MASK, type SecretList } from '../secret.js';
import { bodyVariants } from './body-variants.js';
import { MESSAGES, type DiagnosisCode } from './codes.js';
import { parseSignature, type ParsedSignature } from './parsed-signature.js';
import { nearbySecrets, secretVariants } from './secret-variants.js';
import { bytesOf, parseJson, type Variant } from './variants.js';

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

export interface Limits {
  /** The longest body whose changes are tried. Below 0, nothing is tried. */
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
  if (limits.body < 0) return conclude(parsed.codes, false);
  const keys = keysOf(secret);
  const body = bytesOf(rawBody);
  const searching = findCauses(parsed, keys, body, limits);
  const found = await searching.catch((): DiagnosisCode => 'body_too_complex');
  if (typeof found === 'string') return conclude(guess(parsed, keys, body, found), false);
  return conclude(found.codes, true, Array.isArray(secret) ? found.secretIndex : undefined);
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
}

function keysOf(secret: SecretList): Key[] {
  return [secret].flat().flatMap((each: unknown, secretIndex) => {
    const value = bytesOf(each);
    return value === undefined || value.length === 0 ? [] : [{ value, secretIndex }];
  });
}

type Found = Pick<Key, 'secretIndex'> & { readonly codes: Codes };

/** Number of bodies to try with altered secrets too. */
const FEW = 24;
/** The fixed cost of one attempt in bytes: a key, an encoding, two calls. */
const ATTEMPT = 512;
/** The bytes of one turn of the event loop. */
const TURN = 65_536;

/** Tries the fewest changes first: one of the secret, one of the body, then one of each. */
async function findCauses(
  parsed: ParsedSignature,
  keys: readonly Key[],
  body: Uint8Array | undefined,
  limits: Limits,
): Promise<Found | DiagnosisCode> {
  if (body === undefined || parsed.digits === '' || keys.length === 0) return 'unknown';
  const fits = async (key: Uint8Array, bytes: Uint8Array): Promise<boolean> =>
    parsed.fits(await sign(new HmacKey(key), bytes));
  for (const { value, secretIndex } of keys)
    if (await fits(value, body)) return { codes: parsed.codes, secretIndex };
  if (body.length > limits.body) return 'body_too_complex';
  let [left, next] = [limits.work, limits.work - TURN];

  const attempt = async ({ code, value, secretIndex }: Key, candidate: Variant) => {
    left -= candidate.value.length + ATTEMPT;
    if (left < 0) return undefined;
    if (left < next) {
      next = left - TURN;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (!(await fits(value, candidate.value))) return undefined;
    const codes = [...parsed.codes, code, candidate.code].filter((each) => each !== undefined);
    return { codes, secretIndex };
  };
  const altered = (variants: typeof secretVariants): Key[] =>
    keys.flatMap((key) => [...variants(key.value)].map((each) => ({ ...key, ...each })));

  const plain = { value: body };
  const few: Variant[] = [];
  const secrets = altered(secretVariants);
  for (const key of secrets) {
    const found = await attempt(key, plain);
    if (found !== undefined) return found;
  }
  for (const { value, secretIndex } of keys) {
    if (body.length > 0 && (await fits(body, value)))
      return { codes: [...parsed.codes, 'secret_swapped'], secretIndex };
    for (const parts of [[body], [value, body], [body, value]]) {
      if (parsed.fits(await sha256(parts)))
        return { codes: [...parsed.codes, 'signature_algorithm'], secretIndex };
    }
  }
  for (const variant of bodyVariants(body)) {
    for (const key of keys) {
      const found = await attempt(key, variant);
      if (found !== undefined) return found;
    }
    if (left < 0) return 'body_too_complex';
    if (few.length < FEW) few.push(variant);
  }
  for (const key of altered(nearbySecrets)) {
    const found = await attempt(key, plain);
    if (found !== undefined) return found;
  }
  for (const variant of few) {
    for (const key of secrets) {
      const found = await attempt(key, variant);
      if (found !== undefined) return found;
    }
  }
  return 'unknown';
}

async function sha256(parts: readonly Uint8Array[]): Promise<string> {
  const bytes = Uint8Array.from(parts.flatMap((each) => [...each]));
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
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
  const isForeign = parsed.digits === '' || parsed.codes.includes('signature_algorithm');
  const aboutSignature = isForeign ? parsed.codes : [];
  const codes = [...aboutSignature, aboutSecret, aboutBody].filter((code) => code !== undefined);
  return codes.length === 0 ? [...parsed.codes, otherwise] : codes;
}

/** What a body that was never JSON looks like, in its first characters. */
const NO_JSON: readonly (readonly [RegExp, DiagnosisCode])[] = [
  [/^(\{\})?$/, 'body_empty'],
  [/^\[object |^<ref|^(Map|Array)\b|^#<|^%\{|^\{ ?[\w'][^"]*(:|=>?)|^\{"\w+" ?=>/, 'body_parsed'],
  [/^(\x1f\x8b|x[\x01\x5e\x9c\xda]|H4sI|eJ)/, 'body_compressed'],
  [/^[\w.%[\]-]+=[^&]*(&|$)/, 'body_escaped'],
  [/\xef\xbf\xbd/, 'body_decoded'], // U+FFFD, which decoders write instead of invalid bytes
  [/[:,[] *(\d{15,}0|\d(\.\d+)?[eE]\+?\d+) *[,}\]]/, 'body_reserialized'],
];

function guessAboutBody(body: Uint8Array): DiagnosisCode | undefined {
  // Each byte as one character.
  const text = new TextDecoder('latin1').decode(body.subarray(0, 65_536));
  const [, known] = NO_JSON.find(([form]) => form.test(text)) ?? [];
  if (known !== undefined || parseJson(toText(body) ?? '') !== undefined) return known;
  return /^\s*[{[]/.test(text) ? 'body_truncated' : 'body_foreign';
}
