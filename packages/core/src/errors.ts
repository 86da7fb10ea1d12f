import { statusOf, type WebhookErrorCode } from './reply.js';

// Symbol.for, because an application can hold two copies of this package (ESM and CJS, or two versions).
const BRAND = Symbol.for('@paylink/core:WebhookError');

// What adapters find while they read a body, in the same words on every host.
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['body_too_large', 'the body is larger than bodyLimit'],
  ['body_timeout', 'the body took longer than bodyTimeout'],
  ['incomplete_body', 'the sender went away before the body was complete'],
]);

export interface WebhookErrorOptions {
  /** 400 to 599. Default: the status of a code of ours, else 500. */
  readonly status?: number | undefined;
  /** For the merchant's log; never sent. Default: a sentence for the codes of a body, else the code. */
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Says why a delivery was refused. Branch on `code`, which is stable; the message is for people.
 *
 * A handler may throw one with a code and a status of its own, and that is what the sender gets:
 * `throw new WebhookError('unknown_order', { status: 503 })`.
 *
 * @throws ConfigurationError when the code is not `[a-z0-9_]`, 1 to 64, or the status not 400 to 599: an error that answered
 * 2xx would acknowledge what was not done.
 */
export class WebhookError<Code extends string = WebhookErrorCode | (string & {})> extends Error {
  readonly code: Code;
  readonly status: number;

  constructor(
    code: Code,
    { status = statusOf(code) ?? 500, message = SENTENCES.get(code) ?? code, cause }: WebhookErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    check(isCode(code), 'code', 'must be 1 to 64 of a-z, 0-9 and _');
    check(isFailure(status), 'status', 'must be 400 to 599');
    this.code = code;
    this.status = status;
  }
}
WebhookError.prototype.name = 'WebhookError';
Object.defineProperty(WebhookError.prototype, BRAND, { value: true });

/**
 * Whether `error` is a WebhookError, also one of another copy of this package, where `instanceof` says no. One whose code or
 * status was changed to what the constructor refuses is none.
 */
export function isWebhookError(error: unknown): error is WebhookError {
  try {
    // What a handler returned comes here too, and that is nearly always undefined: to throw and catch takes longer than to verify.
    const branded = error as (WebhookError & Record<symbol, unknown>) | null | undefined;
    return branded?.[BRAND] === true && isCode(branded.code) && isFailure(branded.status);
  } catch {
    // A getter or a proxy that throws.
    return false;
  }
}

function isCode(code: unknown): boolean {
  return typeof code === 'string' && /^[a-z0-9_]{1,64}$/.test(code);
}

function isFailure(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) > 399 && (status as number) < 600;
}

/** An error of our own, in one call. */
export function fault(code: WebhookErrorCode, message: string, cause?: unknown): WebhookError {
  return new WebhookError(code, { message, cause });
}

/**
 * A mistake of set-up: thrown where a verifier, a receiver or a middleware is made. Names the option, never its value. Its stack
 * begins at the caller's line, where the engine has such stacks.
 */
export class ConfigurationError extends TypeError {
  readonly code = 'misconfigured';
  readonly option: string;

  constructor(option: string, problem: string) {
    super(`${option} ${problem}`);
    this.option = option;
    beginAtCaller(this);
  }
}
ConfigurationError.prototype.name = 'ConfigurationError';

/** The folder of our packages, by the first frame: that of this file, in the sources or in what was built. */
const ROOT = /([^\s(]*[\\/])core[\\/](?:src|dist)[\\/]/;
const PACKAGE = /^[\w-]+[\\/](?:src|dist)[\\/]/;
/** Our frames where we are installed, and the engine's. */
const NOT_THE_CALLERS = /[\\/]@paylink[\\/][\w-]+[\\/](?:src|dist)[\\/]|\(<anonymous>\)|node:internal/;

/** The mistake is in the caller's line, which a dozen of our own frames would push out of the stack. */
function beginAtCaller(error: Error): void {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = stackTraceLimit + 20;
    try {
      Error.captureStackTrace(error, ConfigurationError);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    const lines = error.stack!.split('\n');
    const first = lines.findIndex((line) => /^\s+at /.test(line));
    const frames = lines.splice(first);
    const root = ROOT.exec(frames[0]!)?.[1];
    const caller = frames.findIndex((line) => !NOT_THE_CALLERS.test(line) && !line.split(root!).some((part) => PACKAGE.test(part)));
    if (caller >= 0) error.stack = lines.concat(frames.slice(caller, caller + stackTraceLimit)).join('\n');
  } catch {
    // The stack stays as it was: another engine, or one whose Error is frozen.
  }
}

/** @throws ConfigurationError unless the option is as it must be. */
export function check(fit: boolean, option: string, problem: string): asserts fit {
  if (!fit) throw new ConfigurationError(option, problem);
}
