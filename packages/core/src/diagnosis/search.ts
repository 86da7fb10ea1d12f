/** Undoes the usual changes to bodies, signatures and secrets until the signature is right. */
import { HmacKey, sign } from '#hmac';
import { isApiKey, isPlaceholder, MASK, type SecretList } from '../secret.js';
import { bodyVariants } from './body-variants.js';
import type { Budget } from './budget.js';
import { MESSAGES, type DiagnosisCode } from './codes.js';
import { toText } from '../bytes.js';
import { bytesOf } from './encodings.js';
import { parseSignature, type ParsedSignature } from './parsed-signature.js';
import { secretVariants } from './secret-variants.js';
import type { Variant } from './variants.js';

export interface DiagnoseOptions {
  /** The body as the verifier got it: bytes, or a string that stands for its UTF-8 bytes. */
  readonly rawBody: Uint8Array | string;
  /** The unchanged value of the signature header. */
  readonly signature: unknown;
  /** The receiver's secret, or its list of secrets during a rotation. */
  readonly secret: SecretList;
}

export interface Diagnosis {
  /** True if the verifier accepts the signature. `causes` is then empty. */
  readonly matches: boolean;
  /** The first of `causes`. */
  readonly cause?: DiagnosisCode;
  /**
   * The fault and its fix, in a sentence or two per cause. Never contains a secret, a signature or
   * a body.
   */
  readonly message: string;
  /**
   * All faults to fix together, in the order signature, secret, body. `unknown` if no known fault
   * makes the signature match. `body_too_complex` if the search could not try every change.
   */
  readonly causes: readonly DiagnosisCause[];
  /**
   * Index of the secret that made the signature. Set for a list of secrets, if the search found all
   * causes.
   */
  readonly secretIndex?: number;
}

export interface DiagnosisCause {
  readonly code: DiagnosisCode;
  readonly message: string;
  /**
   * True if undoing this fault makes the signature match. False for an obvious fault that loses the
   * signed bytes.
   */
  readonly proven: boolean;
}

const MATCHES = 'The signature matches these bytes.';

/** Never throws. */
export async function search(
  { rawBody, signature, secret }: DiagnoseOptions,
  budget: Budget,
): Promise<Diagnosis> {
  const parsed = parseSignature(signature);
  const secrets = listOf(secret);
  const body = bytesOf(rawBody);
  const found = body === undefined ? undefined : await findCauses(parsed, secrets, body, budget);
  if (typeof found === 'object')
    return conclude(found.codes, true, Array.isArray(secret) ? found.secretIndex : undefined);
  const start = body?.subarray(0, budget.text);
  return conclude(
    guesses(parsed, secrets, start, found === 'unfinished' ? 'body_too_complex' : 'unknown'),
    false,
  );
}

/** Returns the fault of a signature with an invalid form. */
export function diagnoseSpelling(signature: unknown): Diagnosis {
  return conclude(parseSignature(signature).codes, false);
}

function conclude(
  codes: readonly DiagnosisCode[],
  proven: boolean,
  secretIndex?: number,
): Diagnosis {
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

interface Found {
  readonly codes: readonly DiagnosisCode[];
  readonly secretIndex: number;
}

interface Key {
  readonly code?: DiagnosisCode;
  readonly secretIndex: number;
  readonly key: HmacKey;
}

/** A configured secret with its index in the list. */
interface GivenSecret {
  readonly secretIndex: number;
  readonly value: Uint8Array;
}

type Exact = Omit<Variant, 'code'> & { readonly code?: undefined };

/** Number of bodies to try with altered secrets too. */
const FEW = 24;

/** Tries the fewest changes first: one of the secret, one of the body, then one of each. */
async function findCauses(
  parsed: ParsedSignature,
  secrets: readonly GivenSecret[],
  body: Uint8Array,
  budget: Budget,
): Promise<Found | 'unfinished' | undefined> {
  if (parsed.digits === '' || secrets.length === 0) return undefined;
  if (body.length > budget.body) return 'unfinished';

  const match = async (
    keys: readonly Key[],
    candidate: Variant | Exact,
  ): Promise<Found | undefined> => {
    for (const { code, secretIndex, key } of keys) {
      if (!(await budget.take(candidate.value.length))) return undefined;
      if (!parsed.fits(await sign(key, candidate.value))) continue;
      return {
        codes: [...parsed.codes, code, candidate.code].filter((each) => each !== undefined),
        secretIndex,
      };
    }
    return undefined;
  };

  const plain = secrets.map(({ secretIndex, value }): Key => ({
    secretIndex,
    key: new HmacKey(value),
  }));
  for (const { secretIndex, key } of plain) {
    if (parsed.fits(await sign(key, body))) return { codes: parsed.codes, secretIndex };
  }

  const altered: Key[] = [];
  for (const { secretIndex, value: secret } of secrets) {
    for (const { code, value } of secretVariants(secret)) {
      const key = { code, secretIndex, key: new HmacKey(value) };
      const found = await match([key], { value: body });
      if (found !== undefined) return found;
      altered.push(key);
    }
  }

  const few: Variant[] = [];
  const candidates = bodyVariants(body, budget);
  let next = await candidates.next();
  for (; next.done !== true; next = await candidates.next()) {
    const found = await match(plain, next.value);
    if (found !== undefined) return found;
    if (few.length < FEW) few.push(next.value);
  }
  if (!next.value || body.length > budget.parsed) return 'unfinished';

  for (const candidate of few) {
    const found = await match(altered, candidate);
    if (found !== undefined) return found;
  }
  return (await budget.take(0)) ? undefined : 'unfinished';
}

function listOf(secret: SecretList): GivenSecret[] {
  const list: readonly unknown[] = Array.isArray(secret) ? (secret as unknown[]) : [secret];
  return list.flatMap((each, secretIndex) => {
    const value = bytesOf(each);
    return value === undefined || value.length === 0 ? [] : [{ secretIndex, value }];
  });
}

/** Returns the obvious faults that lose the signed bytes. */
function guesses(
  parsed: ParsedSignature,
  secrets: readonly GivenSecret[],
  body: Uint8Array | undefined,
  otherwise: DiagnosisCode,
): DiagnosisCode[] {
  const codes: DiagnosisCode[] = parsed.digits === '' ? [...parsed.codes] : [];
  const texts = secrets.map(({ value }) => toText(value));
  if (secrets.length === 0) codes.push('secret_missing');
  else if (texts.every((text) => text !== undefined && isApiKey(text.trim())))
    codes.push('secret_api_key');
  else if (texts.every((text) => text !== undefined && isPlaceholder(text.trim())))
    codes.push('secret_placeholder');
  else if (texts.every((text) => text !== undefined && MASK.test(text)))
    codes.push('secret_masked');
  if (body === undefined) codes.push('body_parsed');
  else codes.push(...guessesAboutBody(body));
  if (codes.length === 0) codes.push(...parsed.codes, otherwise);
  return codes;
}

// U+FFFD in UTF-8. Text decoders write U+FFFD instead of invalid bytes.
const REPLACED = [0xef, 0xbf, 0xbd] as const;

function guessesAboutBody(body: Uint8Array): DiagnosisCode[] {
  const text = body.length <= 15 ? toText(body) : undefined;
  if (text === '' || text === '{}') return ['body_empty'];
  if (text === '[object Object]') return ['body_parsed'];
  if (body[0] === 0x1f && body[1] === 0x8b) return ['body_compressed'];
  for (let at = body.indexOf(REPLACED[0]); at >= 0; at = body.indexOf(REPLACED[0], at + 1)) {
    if (body[at + 1] === REPLACED[1] && body[at + 2] === REPLACED[2]) return ['body_decoded'];
  }
  return [];
}
