import type { Context } from 'hono';
import { html } from 'hono/html';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { chooseLanguage, LanguageContext, type Language } from './language.js';

export interface PageResponse {
  readonly page: JSX.Element;
  readonly status?: ContentfulStatusCode;
  readonly policy: string;
  /** Default: the browser's choice. */
  readonly language?: Language;
}

/** Answers with a page that loads, runs and frames only the contents in its policy. */
export async function answerPage(
  c: Context,
  { page, status = 200, policy, ...chosen }: PageResponse,
): Promise<Response> {
  const { language = chooseLanguage(c.req.header('accept-language')) } = chosen;
  const spoken = <LanguageContext.Provider value={language}>{page}</LanguageContext.Provider>;
  return c.html(await html`<!doctype html>${spoken}`, status, {
    'Content-Language': language,
    Vary: 'Accept-Language',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    // With no-referrer, browsers would send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
  });
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
