import type { Context } from 'hono';
import { html } from 'hono/html';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Language } from './language.js';

export interface PageResponse {
  readonly page: JSX.Element;
  readonly language: Language;
  readonly status: ContentfulStatusCode;
  readonly policy: string;
}

/** Answers with a page that loads, runs and frames only the contents in its policy. */
export async function answerPage(
  c: Context,
  { page, language, status, policy }: PageResponse,
): Promise<Response> {
  return c.html(await html`<!doctype html>${page}`, status, {
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

/** Redirects after a form. */
export function seeOther(c: Context, location: string): Response {
  c.header('Cache-Control', 'no-store');
  return c.redirect(location, 303);
}
