import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { loadIndex } from '../../../docs/.vitepress/search.js';
import { describeInChromium } from '../../browser/chromium.js';
import { DESKTOP } from '../../browser/customer.js';
import { DIST, filesWith, read } from './built-site.js';
import { openSite } from './reader.js';

const chunkOf = (locale: 'root' | 'fr'): string =>
  filesWith('.js').find((path) => path.includes(`@localSearchIndex${locale}.`))!;

/** Returns the search of a language, with the index that the site ships. */
async function openSearch(locale: 'root' | 'fr'): Promise<(words: string) => string[]> {
  const chunk = (await import(pathToFileURL(join(DIST, chunkOf(locale))).href)) as Chunk;
  const index = loadIndex(chunk.default);
  return (words) => index.search(words).map(({ id }) => String(id));
}

interface Chunk {
  readonly default: string;
}

const english = await openSearch('root');
const french = await openSearch('fr');

it.each([
  ['webhook not received', '/runbook.html#nothing-arrives'],
  ['no notification', '/runbook.html#nothing-arrives'],
  ['payment missing', '/runbook.html#paid-but-not-credited'],
  ['customer paid but order unpaid', '/runbook.html#paid-but-not-credited'],
  ['double payment', '/runbook.html#credited-twice'],
  ['charged twice', '/runbook.html#credited-twice'],
  ['refund', '/runbook.html#credited-twice'],
  ['sandbox', '/faq.html#how-do-i-try-paylink-without-an-account'],
  ['401 unauthorized', '/runbook.html#every-notification-gets-401'],
  ['signature mismatch', '/errors.html#invalid_signature'],
  ['raw body', '/errors.html#body_consumed'],
  ['wrong amount', '/errors.html#amount_differs'],
  ['too many requests', '/errors.html#rate_limited'],
  ['cron', '/schedule.html#cron'],
  ['kubernetes', '/schedule.html#kubernetes'],
  ['vercel', '/schedule.html#vercel'],
  ['ngrok', '/faq.html#how-does-the-service-reach-my-laptop'],
  ['nginx', '/going-live.html#configure-proxies'],
  ['rotate secret', '/going-live.html#rotate-the-secret-without-losing-a-payment'],
  ['api key', '/going-live.html#get-your-keys'],
  ['rotate api key', '/going-live.html#rotate-the-api-key-without-downtime'],
  ['cloudflare proxy', '/going-live.html#configure-proxies'],
  ['gdpr', '/going-live.html#watch-the-log'],
  ['several instances', '/faq.html#can-i-run-several-instances'],
  ['load balancer', '/faq.html#can-i-run-several-instances'],
  ['cold start', '/serverless.html#cold-starts'],
  ['close a refunded case', '/runbook.html#close-a-refunded-case'],
  ['multi tenant', '/security.html#several-merchants'],
  ['express', '/start/express.html'],
  ['nextjs', '/start/next-app.html'],
  ['prisma', '/databases'],
])('leads the English words "%s" to %s', (words, section) => {
  expect(english(words).slice(0, 3)).toContainEqual(expect.stringContaining(section));
});

it.each([
  ['webhook non reçu', '/fr/runbook.html#rien-narrive'],
  ['aucune notification', '/fr/runbook.html#rien-narrive'],
  ['paiement manquant', '/fr/runbook.html#payé-mais-pas-crédité'],
  ['commande impayée', '/fr/runbook.html#payé-mais-pas-crédité'],
  ['double paiement', '/fr/runbook.html#crédité-deux-fois'],
  ['remboursement', '/fr/runbook.html#crédité-deux-fois'],
  ['bac à sable', '/fr/faq.html#comment-essayer-paylink-sans-compte'],
  ['signature invalide', '/fr/errors.html#invalid_signature'],
  ['clé API', '/fr/going-live.html#obtenez-vos-clés'],
  ['tester en local', '/fr/faq.html#comment-le-service-atteint-il-mon-ordinateur'],
  ['rgpd', '/fr/going-live.html#surveillez-le-journal'],
  ['cron', '/fr/schedule.html#cron'],
  ['cpanel', '/fr/faq.html#comment-planifier-reconcile-sur-un-hébergement-mutualisé'],
  ['wave', '/fr/faq.html#paylink-fonctionne-t-il-avec-wave'],
  ['intégration continue', '/fr/testing.html#lancez-les-tests-en-ci'],
  ['mysql', '/fr/databases.html#choisissez-votre-base'],
  ['express', '/fr/start/express.html'],
])('leads the French words « %s » to %s', (words, section) => {
  expect(french(words).slice(0, 3)).toContainEqual(expect.stringContaining(section));
});

it('finds an English page from French, and marks it', () => {
  expect(french('performance').slice(0, 3)).toContain('/performance.html#performance');
  expect(read(chunkOf('fr'))).toContain('Performance (en)');
});

it('indexes the equal steps of the quick starts once', () => {
  const hits = english('Start the payment service');
  expect(hits.filter((id) => /^\/start\/.*#2-/.test(id))).toEqual([
    '/start/express.html#2-start-the-payment-service',
  ]);
});

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

  it('finds a French page with and without accents', async () => {
    expect(await firstResult('fr/index.html', 'exécute')).toMatch(/^\/fr\//);
    expect(await firstResult('fr/index.html', 'execute')).toMatch(/^\/fr\//);
  });
});
