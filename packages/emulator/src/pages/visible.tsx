import { Fragment } from 'hono/jsx';
import { piecesOf } from '../visible-text.js';

/**
 * Shows untrusted text: names its invisible control characters, and isolates its writing direction.
 */
export function Visible({
  text,
  keep,
}: {
  readonly text: string;
  /** Control characters that stay unchanged. */ readonly keep?: string;
}) {
  return (
    <bdi>
      {piecesOf(text, keep).map(({ text: piece, isSign }) =>
        isSign ? <span class="sign">{piece}</span> : <Fragment>{piece}</Fragment>,
      )}
    </bdi>
  );
}

/** Cuts a text that could be very long. */
export function clip(text: string, length = 60): string {
  const characters = Array.from(text);
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}
