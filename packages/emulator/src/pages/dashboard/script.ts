/**
 * Keeps the dashboard live: at each change, the script fetches the page again and replaces the
 * regions marked `data-live`. Without JavaScript, the user reloads the page.
 */
export const DASHBOARD_SCRIPT = `(() => {
  'use strict';
  const state = document.getElementById('live');
  const texts = JSON.parse(state.dataset.texts);
  const seen = new Map();
  let source, retry, running = false, again = false;
  const regions = () => document.querySelectorAll('[data-live]');
  for (const region of regions()) seen.set(region.id, region.innerHTML);

  const say = (name) => {
    state.hidden = false;
    if (state.dataset.state === name) return;
    state.dataset.state = name;
    state.textContent = texts[name];
  };

  const put = (region, fresh) => {
    const focused = region.contains(document.activeElement) ? document.activeElement.id : '';
    const open = new Map();
    for (const details of region.querySelectorAll('details[id]')) open.set(details.id, details.open);
    region.replaceChildren(...fresh.childNodes);
    showCopying();
    for (const details of region.querySelectorAll('details[id]')) if (open.has(details.id)) details.open = open.get(details.id);
    if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
  };

  const showCopying = () => {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
  };
  document.addEventListener('click', async ({ target }) => {
    const { copy, copied } = target.dataset ?? {};
    if (copy === undefined) return;
    await navigator.clipboard.writeText(document.getElementById(copy).textContent);
    target.textContent = copied;
  });
  showCopying();

  const refresh = async () => {
    if (running) { again = true; return; }
    running = true;
    try {
      const response = await fetch(location.href, { cache: 'no-store' });
      if (response.ok) {
        const next = new DOMParser().parseFromString(await response.text(), 'text/html');
        for (const region of regions()) {
          const fresh = next.getElementById(region.id);
          if (fresh === null || fresh.innerHTML === seen.get(region.id)) continue;
          seen.set(region.id, fresh.innerHTML);
          put(region, fresh);
        }
      }
    } catch { say('waiting'); }
    running = false;
    if (again) { again = false; refresh(); }
  };

  const connect = () => {
    clearTimeout(retry);
    source?.close();
    source = new EventSource('/dashboard/events');
    source.onopen = () => { say('live'); refresh(); };
    source.addEventListener('change', refresh);
    source.onerror = () => {
      say('waiting');
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(connect, 5000);
    };
  };

  // A hidden page holds no connection: a browser opens only a few to one host.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) return connect();
    clearTimeout(retry);
    source?.close();
  });
  addEventListener('pagehide', () => source?.close());
  addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
  connect();
})();
`;
