import { createHash } from 'node:crypto';

/**
 * Puts a policy into the page where people type secrets: no request of any kind leaves it, and only
 * the site's own code runs. The policy comes first in the head, because a browser applies it only
 * to later elements.
 */
export function withPolicy(html: string): string {
  const inline = Array.from(
    html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>(.*?)<\/script>/gs),
    ([, code]) => code!,
  );
  const hashes = inline.map(
    (code) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  const policy = [
    `default-src 'self'`,
    `script-src 'self' ${hashes.join(' ')}`,
    // Vue writes the attribute `style`.
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `connect-src 'none'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  return html.replace(
    '<head>',
    `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}
