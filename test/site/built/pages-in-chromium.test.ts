import { describe, expect, it } from 'vitest';
import { findings } from '../../browser/axe.js';
import { describeInChromium } from '../../browser/chromium.js';
import { DESKTOP, PHONE } from '../../browser/customer.js';
import { overhang } from '../../browser/pay-page.js';
import { filesWith } from './built-site.js';
import { openSite } from './reader.js';

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
  const visit = openSite();

  describe.each(['light', 'dark'] as const)('in the %s', (colorScheme) => {
    it.each(LOOKED_AT)(
      'shows %s within the screen of a phone and of a desktop, without an error; axe finds nothing wrong',
      async (path) => {
        const reader = await visit(path, { viewport: PHONE, colorScheme, reducedMotion: 'reduce' });
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
