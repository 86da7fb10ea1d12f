import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Only these rules judge colours. For all others, the light and dark pages are equal. */
export const COLOURS = { runOnly: ['color-contrast', 'link-in-text-block'] };

interface WithAxe {
  readonly axe?: { run(options: RunOptions): Promise<AxeResults> };
}

/**
 * Returns each broken rule with its elements. Runs from outside, so that the page's policy stays.
 */
export async function findings(
  page: Page,
  options: RunOptions = {},
): Promise<{ rule: string; help: string; elements: string[] }[]> {
  const isThere = await page.evaluate(() => (globalThis as unknown as WithAxe).axe !== undefined);
  if (!isThere) await page.evaluate(axe);
  const results = await page.evaluate(
    (chosen) => (globalThis as unknown as Required<WithAxe>).axe.run(chosen),
    // Leaves out passed rules: describing them takes longer than the check on a long page.
    { resultTypes: ['violations' as const], ...options },
  );
  return results.violations.map(({ id, help, nodes }) => ({
    rule: id,
    help,
    elements: nodes.map(({ html }) => html),
  }));
}
