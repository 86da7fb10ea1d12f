import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);

it.each([
  ['@paylink/next', 'paymentWebhook'],
  ['@paylink/next/pages', 'paymentWebhookApi'],
])('%s resolves for import and for require, and gives %s alone', async (door, name) => {
  const imported = (await import(/* @vite-ignore */ door)) as object;
  const required = require(door) as object;
  expect([Object.keys(imported), Object.keys(required)]).toEqual([[name], [name]]);
});
