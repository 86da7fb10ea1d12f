import type { RequestHandler } from 'express';
import type { ShopOrders } from './orders.js';

/** Milliseconds between two looks into the database. */
const INTERVAL = 500;
/** Looks before the stream ends; the browser then opens another. */
const LOOKS = 240;
const MOST_STREAMS = 100;

let streams = 0;

/** Server-sent events: `change` as soon as the order is credited. The page then loads again. */
export function orderEvents(orders: ShopOrders): RequestHandler<{ reference: string }> {
  return (req, res) => {
    const { reference } = req.params;
    const order = orders.find(reference);
    // 204 tells an EventSource not to connect again.
    if (order === undefined || order.isPaid || streams >= MOST_STREAMS)
      return void res.status(204).end();
    streams++;
    let looks = 0;
    const timer = setInterval(look, INTERVAL);
    res.once('close', () => {
      streams--;
      clearInterval(timer);
    });
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    res.write('retry: 1000\n\n');

    function look(): void {
      if (orders.find(reference)?.isPaid === true) res.end('event: change\ndata: \n\n');
      else if (++looks >= LOOKS) res.end();
    }
  };
}

/** Keeps the page of an order live by server-sent events, or by a request every three seconds. */
export const LIVE_SCRIPT = `(() => {
  'use strict';
  const live = document.getElementById('live');
  if (live === null || !live.dataset.events) return;
  let source, timer;
  const stop = () => { source?.close(); clearInterval(timer); };
  const refresh = async () => {
    const response = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.getElementById('live');
    if (fresh === null || fresh.innerHTML === live.innerHTML) return;
    live.replaceChildren(...fresh.childNodes);
    document.title = page.title;
    if (!fresh.dataset.events) stop();
  };
  const poll = () => { timer ??= setInterval(refresh, 3000); };
  if (typeof EventSource === 'undefined') return poll();
  source = new EventSource(live.dataset.events);
  source.addEventListener('change', () => { refresh(); poll(); });
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) poll(); };
  addEventListener('pagehide', () => source.close());
})();
`;
