import type { RequestHandler } from 'express';

/** Accepts only the shop's own forms, so that no other site orders in a visitor's name. */
export function sameOrigin(shopUrl: string): RequestHandler {
  const { origin } = new URL(shopUrl);
  return (req, res, next) => {
    const site = req.get('sec-fetch-site');
    const from = req.get('origin');
    // Browsers always send one of the two. Other clients carry no visitor's cookies.
    if ((site === undefined || site === 'same-origin') && (from === undefined || from === origin))
      next();
    else res.sendStatus(403);
  };
}
