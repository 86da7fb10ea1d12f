declare const PAYLINK_ERRORS_PAGE: string | undefined;

/** Where each code has a section. A release is built with the address of its own repository; see tsup.config.base.ts. */
const ERRORS_PAGE = typeof PAYLINK_ERRORS_PAGE === 'string' ? PAYLINK_ERRORS_PAGE : 'docs/errors.md';

/**
 * The line of the log for an answer that refuses: its status and code, what is wrong, and where that code is explained.
 *
 * @param message never with a secret, a signature, a key or a body in it
 */
export function logLine(status: number, code: string, message: string): string {
  return `[paylink] ${status} ${code}: ${message.replace(/\.$/, '')}. See ${ERRORS_PAGE}#${code}`;
}
