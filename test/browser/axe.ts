import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Each rule that is broken, with the elements that break it. Run from outside, so that the page's policy stays as it is. */
export async function findings(page: Page): Promise<{ rule: string; help: string; elements: string[] }[]> {
  await page.evaluate(axe);
  const results = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
  return results.violations.map(({ id, help, nodes }) => ({ rule: id, help, elements: nodes.map(({ html }) => html) }));
}
