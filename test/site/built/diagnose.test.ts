import { signedDelivery } from '@paylink/testing';
import { expect, it } from 'vitest';
import { describeInChromium } from '../../browser/chromium.js';
import type { PageGlobals } from '../../browser/in-page.js';
import type { Customer } from '../../browser/customer.js';
import { openSite } from './reader.js';

const SECRET = 'whsec_of_the_browser_2f6c1b';
const delivery = signedDelivery({
  secret: SECRET,
  rawBody: '{"reference": "order-42", "amount": 5000}',
});
const signature = delivery.headers['x-service-signature']!;
const reserialized = JSON.stringify(JSON.parse(delivery.rawBody.toString()));

describeInChromium('the page that diagnoses a signature', () => {
  const visit = openSite();

  async function diagnose(reader: Customer, body: string): Promise<string> {
    const { page } = reader;
    await page.getByLabel('Or as text').fill(body);
    await page.getByLabel('X-Service-Signature').fill(signature);
    await page.getByLabel('secret').fill(SECRET);
    await page.getByRole('button', { name: 'Diagnose' }).click();
    return page.getByRole('status').locator('p').first().innerText();
  }

  it('diagnoses a re-serialised body offline and does not show the secret', async () => {
    const reader = await visit('diagnose.html');
    await reader.page.getByRole('button', { name: 'Diagnose' }).waitFor();
    await reader.page.context().setOffline(true);
    const told = await diagnose(reader, reserialized);
    expect(told).toMatch(/^body_reserialized /);
    expect(told).not.toContain(SECRET);
    await reader.leave();
    expect(reader.complaints).toEqual([]);
  });

  it('reports a match for the right body', async () => {
    const reader = await visit('diagnose.html');
    expect(await diagnose(reader, delivery.rawBody.toString())).toBe(
      'The signature matches these bytes.',
    );
    await reader.leave();
    expect(reader.complaints).toEqual([]);
  });

  it('reads the exact bytes of a file', async () => {
    const crlf = signedDelivery({ secret: SECRET, rawBody: '{\r\n"reference":"order-42"}\r\n' });
    const reader = await visit('diagnose.html');
    await reader.page.getByLabel('X-Service-Signature').fill(crlf.headers['x-service-signature']!);
    await reader.page.getByLabel('secret').fill(SECRET);
    // After the page is ready: unlike `fill`, this does not wait, and its file would be lost.
    await reader.page
      .getByLabel('Body, as a file')
      .setInputFiles({ name: 'body', mimeType: '', buffer: crlf.rawBody });
    await reader.page.getByRole('button', { name: 'Diagnose' }).click();
    await reader.page.getByText('The signature matches these bytes.').waitFor();
    await reader.leave();
    expect(reader.complaints).toEqual([]);
  });

  it.each([
    ['errors.html', 'Diagnose'],
    ['fr/index.html', 'Diagnostiquer'],
  ])('cannot send a request if you come from %s', async (from, name) => {
    const reader = await visit(from);
    await reader.page.locator('.vp-doc a[href$="diagnose.html"]').first().click();
    await reader.page.getByRole('button', { name }).and(reader.page.locator(':enabled')).waitFor();
    const refusedBy = await reader.page.evaluate(
      () =>
        new Promise((resolve) => {
          (globalThis as unknown as PageGlobals).document.addEventListener(
            'securitypolicyviolation',
            (violation) => {
              resolve(violation.effectiveDirective);
            },
          );
          fetch('/').then(() => resolve('nothing'), Function.prototype as () => void);
        }),
    );
    expect(refusedBy).toBe('connect-src');
    await reader.leave();
  });

  it('is in French on its French page', async () => {
    const reader = await visit('fr/diagnose.html');
    const { page } = reader;
    await page.getByLabel('Ou en texte').fill(reserialized);
    await page.getByLabel('X-Service-Signature').fill(signature);
    await page.getByLabel('Le secret du récepteur').fill(SECRET);
    await page.getByRole('button', { name: 'Diagnostiquer' }).click();
    const told = await page.getByRole('status').locator('p').first().innerText();
    expect(told).toMatch(/^body_reserialized Un body parser JSON a lu le corps/);
    await page.getByLabel('Ou en texte').fill(delivery.rawBody.toString());
    await page.getByRole('button', { name: 'Diagnostiquer' }).click();
    await page.getByText('La signature est bien celle de ces octets.').waitFor();
    await reader.leave();
    expect(reader.complaints).toEqual([]);
  });

  it('stores no input', async () => {
    const reader = await visit('diagnose.html');
    await diagnose(reader, reserialized);
    const kept = await reader.page.context().storageState();
    expect(JSON.stringify(kept)).not.toMatch(new RegExp(`${SECRET}|${signature}|order-42`));
    await reader.page.reload();
    expect(await reader.page.getByLabel('secret').inputValue()).toBe('');
    await reader.leave();
  });
});
