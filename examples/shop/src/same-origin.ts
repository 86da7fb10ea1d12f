import type { RequestHandler } from 'express';

/** Lets a form through only when it comes from the shop's own pages: no other site may order in a visitor's name. */
export function sameOrigin(shopUrl: string): RequestHandler {
  const { origin } = new URL(shopUrl);
  return (req, res, next) => {
    const site = req.get('sec-fetch-site');
    const from = req.get('origin');
    // A browser always says where a form comes from. Who says neither is no browser, and carries no visitor's cookies.
    if ((site === undefined || site === 'same-origin') && (from === undefined || from === origin)) next();
    else res.sendStatus(403);
  };
}
