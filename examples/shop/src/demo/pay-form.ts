import { mustHold } from './story.js';

/** Submits the pay form of a hosted page as a browser does. Returns the customer's next address. */
export async function submitPayForm(pageUrl: string): Promise<string> {
  const page = await fetch(pageUrl, { signal: AbortSignal.timeout(10_000) });
  const markup = await page.text();
  mustHold(page.status === 200, `the page to pay at answered ${page.status}`);
  const form = /<form method="post" action="([^"]+\/pay)">(.*?)<\/form>/s.exec(markup);
  mustHold(form !== null, 'the page to pay at has no pay form');
  const [, action = '', fields = ''] = form;
  const inputs = [...fields.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const url = new URL(action, pageUrl);
  const paid = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: url.origin },
    body: new URLSearchParams(
      inputs.map(([, name = '', value = '']): [string, string] => [name, value]),
    ),
    signal: AbortSignal.timeout(10_000),
  });
  const location = paid.headers.get('location');
  mustHold(
    paid.status === 303 && location !== null,
    `the pay form was answered with ${paid.status}, not with a redirect`,
  );
  return new URL(location, url).href;
}
