import { createHash } from 'node:crypto';
import { html, Html } from './html.js';
import { LIVE_SCRIPT } from './live.js';
import type { OrderState, Standing } from './order-state.js';
import type { ShopOrder } from './orders.js';
import { nameOf, type Product } from './product.js';
import { TEXTS, type Language } from './texts.js';

const STYLE = `
:root { color-scheme: light dark; --page: #f6f2ea; --card: #fff; --text: #1d1a16; --soft: #665f55;
  --line: #d9d1c3; --strong: #9a3412; --on-strong: #fff;
  --good: #14532d; --good-back: #dcfce7; --wait: #713f12; --wait-back: #fef3c7; }
@media (prefers-color-scheme: dark) { :root { --page: #14110e; --card: #211c17; --text: #f4efe7;
  --soft: #b3a99b; --line: #453c32; --strong: #fdba74; --on-strong: #2a1304;
  --good: #bbf7d0; --good-back: #143321; --wait: #fde68a; --wait-back: #3a2e0c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 28rem; margin: 0 auto; }
header { padding: .5rem .25rem 1rem; font-weight: 700; letter-spacing: .02em; }
header a { color: inherit; text-decoration: none; }
main { padding: 1.25rem; border-radius: 1rem; background: var(--card); overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; border-radius: .75rem; }
h1 { margin: 1rem 0 .25rem; font-size: 1.375rem; }
.price { margin: .25rem 0 1rem; font-size: 1.75rem; font-weight: 700; }
.soft { color: var(--soft); }
.state { display: inline-block; margin: 0; padding: .25rem .75rem; border-radius: 1rem;
  font-weight: 600; }
.state { background: var(--wait-back); color: var(--wait); }
.state.paid { background: var(--good-back); color: var(--good); }
.link { display: inline-block; min-height: 1.5rem; color: inherit; }
#live > * + * { margin-top: 1rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; text-align: right; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem; border: 0;
  border-radius: .75rem; background: var(--strong); color: var(--on-strong);
  font: inherit; font-weight: 700; text-align: center; text-decoration: none; cursor: pointer; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 3px; }
`;

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M7 9a5 4.5 0 0 1 ' +
    '10 0" fill="none" stroke="#7c2d12" stroke-width="2"/><path fill="#9a3412" d="M3 ' +
    '9h18l-2.5 12h-13z"/></svg>',
)}`;

/** Allows only the pages' own script, and forms that lead to the shop or the pay page. */
export function contentSecurityPolicy(payOrigin: string): string {
  const own = (text: string): string =>
    `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `style-src ${own(STYLE)}`,
    `script-src ${own(LIVE_SCRIPT)}`,
    "connect-src 'self'",
    'img-src data:',
    `form-action 'self' ${payOrigin}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function productPage({ name, about, price }: Product, language: Language): Html {
  const texts = TEXTS[language];
  return page(language, name[language], [
    picture(texts.picture),
    html`<h1>${name[language]}</h1>
      <p class="soft">${about[language]}</p>
      <p class="price">${formatAmount(price.amount, language)}</p>
      <form method="post" action="/orders"><button type="submit">${texts.buy}</button></form>`,
  ]);
}

/** A page in one of these states does not ask again. */
const FINAL: readonly OrderState[] = ['paid', 'unprepared'];

/** Returns an order's page. Its changeable part stays live while the order is unpaid. */
export function orderPage(order: ShopOrder, standing: Standing, language: Language): Html {
  const texts = TEXTS[language];
  const { id, product, amount, attempts } = order;
  const { state } = standing;
  const [{ reference }] = attempts;
  const canChange = !FINAL.includes(state);
  return page(language, texts.state[state], [
    html`<h1>${nameOf(product, language)}</h1>
      <p class="price">${formatAmount(amount, language)}</p>
      <div
        id="live"
        aria-live="polite"
        data-events="${canChange ? `/orders/${reference}/events` : ''}"
      >
        <p class="state ${state}">${texts.state[state]}</p>
        <p>${texts.stateHint[state]}</p>
        ${action(reference, standing, language)}
        <dl>
          <dt>${texts.order}</dt>
          <dd>${id}</dd>
        </dl>
      </div>`,
    canChange ? SCRIPT_ELEMENT : html``,
  ]);
}

function action(reference: string, { state, payUrl }: Standing, language: Language): Html {
  const texts = TEXTS[language];
  if (state === 'paid') return html``;
  if (payUrl !== undefined) return html`<a class="button" href="${payUrl}">${texts.payNow}</a>`;
  if (state === 'failed' || state === 'cancelled' || state === 'unprepared')
    return html`<form method="post" action="/orders/${reference}/attempts">
      <button type="submit">${texts.tryAgain}</button>
    </form>`;
  return html`<a
    class="link"
    href="/orders/${reference}${state === 'confirming' ? '?from=payment' : ''}"
    >${texts.lookAgain}</a
  >`;
}

export function messagePage([title, message]: readonly [string, string], language: Language): Html {
  return page(language, title, [
    html`<h1>${title}</h1>
      <p>${message}</p>
      <a class="button" href="/">${TEXTS[language].toShop}</a>`,
  ]);
}

function page(language: Language, title: string, content: readonly Html[]): Html {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Baobab</title>
        <link rel="icon" href="${ICON}" />
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header><a href="/">Baobab</a></header>
        <main>${content}</main>
      </body>
    </html>`;
}

// In one piece, because the policy contains its hash.
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);
const SCRIPT_ELEMENT = new Html(`<script>${LIVE_SCRIPT}</script>`);

const picture = (label: string): Html =>
  html`<svg viewBox="0 0 320 180" role="img" aria-label="${label}">
    <rect width="320" height="180" fill="#f2c078" />
    <path d="M110 70a50 42 0 0 1 100 0" fill="none" stroke="#7c2d12" stroke-width="8" />
    <path d="M92 70h136l-16 82a10 10 0 0 1-10 8h-84a10 10 0 0 1-10-8z" fill="#9a3412" />
    <path
      d="M96 92h128M100 114h120M104 136h112"
      stroke="#f2c078"
      stroke-width="6"
      stroke-dasharray="14 8"
    />
  </svg>`;

/** Formats an amount like the pay page. */
export function formatAmount(amount: number, language: Language = 'en'): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency: 'XOF' }).format(amount);
}
