import type { Context } from 'hono';
import { html } from 'hono/html';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { chooseLanguage, LanguageContext, type Language } from './language.js';
import { sourceOfText } from './style.js';

export interface PageResponse {
  readonly page: JSX.Element;
  readonly status?: ContentfulStatusCode;
  /** The style of the page, and all that the page may load. */
  readonly style: string;
  /** The addresses to which the page's forms may lead, besides the emulator's own. */
  readonly formTargets?: readonly string[];
  /** Default: the browser's choice. */
  readonly language?: Language;
}

/** Answers with a page that runs no script and is in no frame. */
export async function answerPage(
  c: Context,
  { page, status = 200, style, formTargets = [], ...chosen }: PageResponse,
): Promise<Response> {
  const { language = chooseLanguage(c.req.header('accept-language')) } = chosen;
  const spoken = <LanguageContext.Provider value={language}>{page}</LanguageContext.Provider>;
  return c.html(await html`<!doctype html>${spoken}`, status, {
    'Content-Language': language,
    Vary: 'Accept-Language',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policyFor(style, formTargets),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    // With no-referrer, browsers would send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
  });
}

function policyFor(style: string, formTargets: readonly string[]): string {
  const formAction = ["'self'", ...new Set(formTargets.map(sourceOf))].join(' ');
  return (
    `default-src 'none'; style-src ${sourceOfText(style)}; img-src data:; ` +
    `form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
  );
}

function sourceOf(text: string): string {
  const { hostname, origin, protocol } = new URL(text);
  // The grammar of a policy does not allow IPv6 addresses.
  return hostname.startsWith('[') ? protocol : origin;
}

/** Reads the fields of a form. */
export async function readForm(c: Context): Promise<URLSearchParams> {
  return new URLSearchParams(await c.req.text());
}

/** Redirects after a form, so that neither reload nor back sends the form again. */
export function seeOther(c: Context, location: string): Response {
  c.header('Cache-Control', 'no-store');
  return c.redirect(location, 303);
}
