import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COLOURS, findings } from '../../browser/axe.js';
import { describeInChromium } from '../../browser/chromium.js';
import { DESKTOP, PHONE, type Customer } from '../../browser/customer.js';
import { overhang } from '../../browser/pay-page.js';
import { filesWith } from './built-site.js';
import { open, openSite } from './reader.js';

const ALL = filesWith('.html');

/** One page of each kind for every run. PAYLINK_SITE=all checks every page. */
const KINDS = [
  'index.html',
  'fr/index.html',
  'start/express.html',
  'fr/start/express.html',
  'fr/runbook.html',
  'errors.html',
  '404.html',
  'security.html',
  'diagnose.html',
  'fr/diagnose.html',
  'reference/api/express.html',
];
const LOOKED_AT =
  process.env['PAYLINK_SITE'] === 'all' ? ALL : KINDS.filter((path) => ALL.includes(path));

interface Styles {
  getComputedStyle(element: unknown): {
    readonly whiteSpace: string;
    readonly backgroundAttachment: string;
  };
}

/** Returns the tables without the shadow that shows that they scroll. */
const tablesWithoutShadow = (page: Page): Promise<number> =>
  page
    .locator('.vp-doc table')
    .evaluateAll(
      (tables) =>
        tables.filter(
          (table) =>
            (globalThis as unknown as Styles).getComputedStyle(table).backgroundAttachment !==
            'local, local, scroll, scroll',
        ).length,
    );

/** Returns the tables that a phone would have to scroll: there each row is a card. */
const tablesThatScroll = (page: Page): Promise<number> =>
  page
    .locator('.vp-doc table')
    .evaluateAll(
      (tables: readonly { readonly scrollWidth: number; readonly clientWidth: number }[]) =>
        tables.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length,
    );

/** Returns the code blocks that wrap a line: a wrapped line can say another thing. */
const wrappingBlocks = (page: Page): Promise<string[]> =>
  page
    .locator('.vp-doc pre code')
    .evaluateAll((blocks: readonly { readonly innerText: string }[]) =>
      blocks
        .filter(
          (block) => (globalThis as unknown as Styles).getComputedStyle(block).whiteSpace !== 'pre',
        )
        .map(({ innerText }) => innerText.split('\n', 1)[0]!),
    );

async function inTheDark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.locator('html.dark').waitFor();
}

async function inTheLight(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.locator('html:not(.dark)').waitFor();
}

describeInChromium('the site', () => {
  const visit = openSite();
  // One reader for all pages, because a browser profile costs more than a page.
  let reader: Customer;
  beforeAll(async () => {
    reader = await visit('index.html');
  });
  afterAll(() => reader?.leave());

  it.each(LOOKED_AT)(
    'shows %s without overflow, errors and axe violations on a phone and a desktop, light and dark',
    async (path) => {
      const { page, complaints } = reader;
      const before = complaints.length;
      await page.setViewportSize(PHONE);
      await open(page, new URL(`/${path}`, page.url()).href);
      for (const viewport of [PHONE, DESKTOP]) {
        await page.setViewportSize(viewport);
        await inTheLight(page);
        expect(await overhang(page)).toBe(0);
        expect(await wrappingBlocks(page)).toEqual([]);
        if (viewport === DESKTOP) expect(await tablesWithoutShadow(page)).toBe(0);
        else expect(await tablesThatScroll(page)).toBe(0);
        expect(await findings(page)).toEqual([]);
        await inTheDark(page);
        expect(await findings(page, COLOURS)).toEqual([]);
      }
      expect(complaints.slice(before)).toEqual([]);
    },
  );
});
