import messages from './messages.json';

/** A stable code. Branch on codes, never on messages. */
export type DiagnosisCode = keyof typeof messages;

/** Each cause with its fix, in a sentence or two. */
export const MESSAGES: Readonly<Record<DiagnosisCode, string>> = messages;
