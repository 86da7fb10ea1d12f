import { createHash } from 'node:crypto';
import { html, Html } from './html.js';
import type { Order } from './orders.js';
import type { Product } from './product.js';

const STYLE = `
:root { color-scheme: light dark; --page: #f6f2ea; --card: #fff; --text: #1d1a16; --soft: #665f55; --line: #d9d1c3; --strong: #9a3412; --on-strong: #fff;
  --good: #14532d; --good-back: #dcfce7; --wait: #713f12; --wait-back: #fef3c7; }
@media (prefers-color-scheme: dark) { :root { --page: #14110e; --card: #211c17; --text: #f4efe7; --soft: #b3a99b; --line: #453c32; --strong: #fdba74; --on-strong: #2a1304;
  --good: #bbf7d0; --good-back: #143321; --wait: #fde68a; --wait-back: #3a2e0c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; padding: 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 28rem; margin: 0 auto; }
header { padding: .5rem .25rem 1rem; font-weight: 700; letter-spacing: .02em; }
header a { color: inherit; text-decoration: none; }
main { padding: 1.25rem; border-radius: 1rem; background: var(--card); overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; border-radius: .75rem; }
h1 { margin: 1rem 0 .25rem; font-size: 1.375rem; }
.price { margin: .25rem 0 1rem; font-size: 1.75rem; font-weight: 700; }
.soft { color: var(--soft); }
.state { display: inline-block; margin: 0; padding: .25rem .75rem; border-radius: 1rem; font-weight: 600; }
.paid { background: var(--good-back); color: var(--good); }
.unpaid { background: var(--wait-back); color: var(--wait); }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; text-align: right; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem; border: 0; border-radius: .75rem; background: var(--strong); color: var(--on-strong);
  font: inherit; font-weight: 700; text-align: center; text-decoration: none; cursor: pointer; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 3px; }
`;

/** Of the shop's pages: nothing is loaded from anywhere, and forms lead to the shop or to where customers pay. */
export function contentSecurityPolicy(payOrigin: string): string {
  const style = createHash('sha256').update(STYLE).digest('base64');
  return `default-src 'none'; style-src 'sha256-${style}'; form-action 'self' ${payOrigin}; base-uri 'none'; frame-ancestors 'none'`;
}

export function productPage({ name, about, price }: Product): Html {
  return page(
    name,
    html`${PICTURE}
      <h1>${name}</h1>
      <p class="soft">${about}</p>
      <p class="price">${formatAmount(price)}</p>
      <form method="post" action="/orders"><button type="submit">Buy</button></form>`,
  );
}

export function orderPage({ reference, product, amount, payUrl, isPaid, credits }: Order): Html {
  return page(
    isPaid ? 'Paid' : 'Not paid yet',
    html`<p class="state ${isPaid ? 'paid' : 'unpaid'}">${isPaid ? 'Paid' : 'Not paid yet'}</p>
      <h1>${product}</h1>
      <p class="price">${formatAmount(amount)}</p>
      <dl>
        <dt>Order</dt>
        <dd>${reference}</dd>
        <dt>Credited</dt>
        <dd>${formatAmount(credits.total)}, ${credits.count === 1 ? 'once' : `${credits.count} times`}</dd>
      </dl>
      ${isPaid ? html`<p>Thank you. We are packing it.</p>` : unpaid(payUrl)}`,
    // Who comes back from paying can be faster than the notification.
    isPaid ? html`` : html`<meta http-equiv="refresh" content="3" />`,
  );
}

function unpaid(payUrl: string | null): Html {
  if (payUrl === null) return html`<p>The payment could not be prepared. Nothing was charged: please order again.</p>`;
  return html`<p class="soft">This page looks again every three seconds.</p>
    <a class="button" href="${payUrl}">Pay now</a>`;
}

export function messagePage(title: string, message: string): Html {
  return page(
    title,
    html`<h1>${title}</h1>
      <p>${message}</p>
      <a class="button" href="/">To the shop</a>`,
  );
}

function page(title: string, content: Html, head: Html = html``): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Baobab</title>
        ${head} ${STYLE_ELEMENT}
      </head>
      <body>
        <header><a href="/">Baobab</a></header>
        <main>${content}</main>
      </body>
    </html>`;
}

// In one piece, since its hash is in the policy.
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

const PICTURE = html`<svg viewBox="0 0 320 180" role="img" aria-label="A woven basket">
  <rect width="320" height="180" fill="#f2c078" />
  <path d="M110 70a50 42 0 0 1 100 0" fill="none" stroke="#7c2d12" stroke-width="8" />
  <path d="M92 70h136l-16 82a10 10 0 0 1-10 8h-84a10 10 0 0 1-10-8z" fill="#9a3412" />
  <path d="M96 92h128M100 114h120M104 136h112" stroke="#f2c078" stroke-width="6" stroke-dasharray="14 8" />
</svg>`;

export function formatAmount(amount: number): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency: 'XOF' }).format(amount);
}
