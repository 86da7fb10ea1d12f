import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInChromium, openChromium } from '../../browser/chromium.js';
import { DESKTOP, newCustomer } from '../../browser/customer.js';
import { serveSite, type BuiltSite } from './built-site.js';
import { open } from './reader.js';

describeInChromium('the search', () => {
  let browser: Browser;
  let site: BuiltSite;
  beforeAll(async () => {
    [browser, site] = await Promise.all([openChromium(), serveSite()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  /** The address of the first result. */
  async function firstResult(path: string, words: string): Promise<string> {
    const reader = await newCustomer(browser, { viewport: DESKTOP });
    await open(reader.page, `${site.origin}/${path}`);
    await reader.page.getByRole('button', { name: /^(Search|Rechercher)$/ }).click();
    await reader.page.locator('.VPLocalSearchBox input').fill(words);
    const href = await reader.page.locator('.VPLocalSearchBox .result').first().getAttribute('href');
    await reader.leave();
    expect(reader.complaints).toEqual([]);
    return href!;
  }

  it('finds the section of an error by its code', async () => {
    expect(await firstResult('index.html', 'body_consumed')).toBe('/errors.html#body_consumed');
  });

  it.each(['corps', 'exécute', 'execute'])('finds the French pages by « %s », with and without accents', async (word) => {
    expect(await firstResult('fr/index.html', word)).toMatch(/^\/fr\//);
  });
});
