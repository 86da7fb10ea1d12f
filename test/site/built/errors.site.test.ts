import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { read } from './built-site.js';

/** `@paylink/core WebhookErrorCode = "body_consumed"` and the like. */
const api = readFileSync(new URL('../../../public-api.txt', import.meta.url), 'utf8');
const codes = Array.from(
  api.matchAll(/^@paylink\/core WebhookErrorCode = "([a-z_]+)"$/gm),
  ([, code]) => code!,
);

describe('the page of the errors', () => {
  const html = read('errors.html');

  it('has the anchor #<code> that a log line links to', () => {
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !html.includes(` id="${code}"`))).toEqual([]);
  });
});
