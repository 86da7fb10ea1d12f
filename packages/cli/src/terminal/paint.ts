import pc from 'picocolors';
import { SafeText, toSafe, type Printable } from './safe-text.js';

type Style = (part: Printable) => SafeText;

/** The styles of this program. Each style escapes its text. */
export interface Paint {
  readonly bold: Style;
  readonly dim: Style;
  readonly red: Style;
  readonly green: Style;
  readonly yellow: Style;
  readonly cyan: Style;
}

export function createPaint(enabled: boolean): Paint {
  const colors = pc.createColors(enabled);
  const style =
    (apply: (value: string) => string): Style =>
    (part) => {
      const { value, width } = toSafe(part);
      return new SafeText(apply(value), width);
    };
  return {
    bold: style(colors.bold),
    dim: style(colors.dim),
    red: style(colors.red),
    green: style(colors.green),
    yellow: style(colors.yellow),
    cyan: style(colors.cyan),
  };
}

/**
 * Returns true for a terminal. NO_COLOR (no-color.org) turns colours off, and FORCE_COLOR turns
 * them on elsewhere. NO_COLOR wins.
 */
export function wantsColor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  if (NO_COLOR || FORCE_COLOR === '0' || FORCE_COLOR === 'false') return false;
  return Boolean(FORCE_COLOR) || (stream.isTTY === true && TERM !== 'dumb');
}
