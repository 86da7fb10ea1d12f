import { styleText } from 'node:util';
import { SafeText, toSafe, type Printable } from './safe-text.js';

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;

/** The styles of this program. Each style escapes its text. */
export type Paint = Readonly<Record<(typeof STYLES)[number], (part: Printable) => SafeText>>;

/** Node leaves colours out unless the stream is a terminal, and obeys NO_COLOR and FORCE_COLOR. */
export function createPaint(stream: NodeJS.WritableStream): Paint {
  const styles = STYLES.map((name) => [
    name,
    (part: Printable) => new SafeText(styleText(name, toSafe(part).value, { stream })),
  ]);
  return Object.fromEntries(styles) as Paint;
}
