import { toVisible } from '../base/visible-text.js';

/**
 * Shows untrusted text: names its invisible control characters, and isolates its writing direction.
 *
 * @param keep control characters that stay unchanged
 */
export function Visible({ text, keep }: { readonly text: string; readonly keep?: string }) {
  return <bdi>{toVisible(text, keep)}</bdi>;
}

/** Cuts a text that could be very long. */
export function clip(text: string, length = 60): string {
  const characters = Array.from(text);
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}
