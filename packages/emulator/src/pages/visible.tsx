import { Fragment } from 'hono/jsx';
import { piecesOf } from '../visible-text.js';

/**
 * Text from outside, its invisible control characters named, set apart from the direction of
 * writing around it.
 */
export function Visible({
  text,
  keep,
}: {
  readonly text: string;
  /** Signs that stay as they are. */ readonly keep?: string;
}) {
  return (
    <bdi>
      {piecesOf(text, keep).map(({ text: piece, isSign }) =>
        isSign ? <span class="sign">{piece}</span> : <Fragment>{piece}</Fragment>,
      )}
    </bdi>
  );
}

/** The beginning of a text that could be very long. */
export function clip(text: string, length = 60): string {
  const characters = Array.from(text);
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}
