/**
 * Reads what a handler threw, for a log line. The value can be anything: its getters and Proxy
 * traps may throw, and nothing here does.
 */
import { ConfigurationError } from './errors.js';

const UNREADABLE = 'an error that cannot be read';
const LONGEST_MESSAGE = 2_000;
const LONGEST_STACK = 8_000;

export function describeThrown(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return toLine(`threw ${String(thrown)}`);
    const text = reasonOf(thrown);
    if (text === undefined) return 'threw an object that is not an Error';
    const { cause } = thrown as { readonly cause?: unknown };
    const reason = textOf(cause);
    const name = cause instanceof Error ? `${cause.name}: ` : '';
    return toLine(text.replace(/\.$/, '') + (reason === undefined ? '' : ` (${name}${reason})`));
  } catch {
    return UNREADABLE;
  }
}

/** Returns the reason in a thrown value that a merchant reads. */
export function reasonOf(thrown: unknown): string | undefined {
  try {
    return textOf(thrown);
  } catch {
    return UNREADABLE;
  }
}

/** Returns the message, or the code if the message is empty. supabase-js throws plain objects. */
function textOf(thrown: unknown): string | undefined {
  if (typeof thrown === 'string') return thrown;
  const error = Object(thrown) as { readonly message?: unknown; readonly code?: unknown };
  const { message } = error;
  const code = message === '' ? error.code : undefined;
  if (typeof code === 'string') return code;
  return typeof message === 'string' ? message : undefined;
}

const CLASSES = [TypeError, RangeError, SyntaxError, ReferenceError, Error];

/** Describes an error that may quote a secret: Paylink's own message, or a built-in class. */
export function describeGuarded(thrown: unknown): string {
  try {
    if (thrown instanceof ConfigurationError) return thrown.message;
    return CLASSES.find((known) => thrown instanceof known)?.name ?? 'not an Error';
  } catch {
    return UNREADABLE;
  }
}

export function stackOf(thrown: unknown): string | undefined {
  try {
    const { stack } = Object(thrown) as { readonly stack?: unknown };
    if (typeof stack !== 'string') return undefined;
    // Indents every line after the first: a line of the message must not look like a line of ours.
    const lines = stack.slice(0, LONGEST_STACK).split('\n');
    return lines.map((line) => escapeControls(line).trimStart()).join('\n    ');
  } catch {
    return undefined;
  }
}

function toLine(text: string): string {
  return escapeControls(text.slice(0, LONGEST_MESSAGE).replace(/\s+/g, ' '));
}

/** Escapes characters with which a text could forge, hide or reorder log lines. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
