import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findings } from '../../browser/axe.js';
import { describeInChromium, openChromium } from '../../browser/chromium.js';
import { DESKTOP, newCustomer, PHONE } from '../../browser/customer.js';
import { overhang } from '../../browser/pay-page.js';
import { filesWith, serveSite, type BuiltSite } from './built-site.js';
import { open } from './reader.js';

const ALL = filesWith('.html').filter((path) => path !== '404.html');

/** Looked at in every run: one of each kind. With PAYLINK_SITE=all it is every page. */
const KINDS = [
  'index.html',
  'fr/index.html',
  'start/express.html',
  'fr/start/express.html',
  'fr/runbook.html',
  'errors.html',
  'security.html',
  'diagnose.html',
  'reference/api/express.html',
];
const LOOKED_AT = process.env['PAYLINK_SITE'] === 'all' ? ALL : KINDS.filter((path) => ALL.includes(path));

describeInChromium('the site', () => {
  let browser: Browser;
  let site: BuiltSite;
  beforeAll(async () => {
    [browser, site] = await Promise.all([openChromium(), serveSite()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  describe.each(['light', 'dark'] as const)('in the %s', (colorScheme) => {
    it.each(LOOKED_AT)(
      'shows %s within the screen of a phone and of a desktop, without an error; axe finds nothing wrong',
      async (path) => {
        const reader = await newCustomer(browser, { viewport: PHONE, colorScheme, reducedMotion: 'reduce' });
        await open(reader.page, `${site.origin}/${path}`);
        for (const viewport of [PHONE, DESKTOP]) {
          await reader.page.setViewportSize(viewport);
          expect(await findings(reader.page)).toEqual([]);
          expect(await overhang(reader.page)).toBe(0);
        }
        await reader.leave();
        expect(reader.complaints).toEqual([]);
      },
    );
  });
});
