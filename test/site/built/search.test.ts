import { expect, it } from 'vitest';
import { describeInChromium } from '../../browser/chromium.js';
import { DESKTOP } from '../../browser/customer.js';
import { openSite } from './reader.js';

describeInChromium('the search', () => {
  const visit = openSite();

  /** Returns the address of the first result. */
  async function firstResult(path: string, words: string): Promise<string> {
    const reader = await visit(path, { viewport: DESKTOP });
    await reader.page.getByRole('button', { name: /^(Search|Rechercher)$/ }).click();
    await reader.page.locator('.VPLocalSearchBox input').fill(words);
    const href = await reader.page
      .locator('.VPLocalSearchBox .result')
      .first()
      .getAttribute('href');
    await reader.leave();
    expect(reader.complaints).toEqual([]);
    return href!;
  }

  it('finds the section of an error by its code', async () => {
    expect(await firstResult('index.html', 'body_consumed')).toBe('/errors.html#body_consumed');
  });

  it.each(['corps', 'exécute', 'execute', 'remboursement', 'mysql'])(
    'finds a French page by « %s »',
    async (word) => {
      expect(await firstResult('fr/index.html', word)).toMatch(/^\/fr\//);
    },
  );
});
