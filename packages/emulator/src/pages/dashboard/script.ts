/**
 * Keeps the dashboard live: every second, the script fetches the page again and replaces the
 * changed regions marked `data-live`. Without JavaScript, the user reloads the page.
 */
export const DASHBOARD_SCRIPT = `(() => {
  'use strict';
  const state = document.getElementById('live');
  const texts = JSON.parse(state.dataset.texts);
  const seen = new Map();
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
    const open = [...region.querySelectorAll('details[open]')].map(({ id }) => id);
    region.replaceChildren(...fresh.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
  };

  const refresh = async () => {
    try {
      const signal = AbortSignal.timeout(10000);
      const response = await fetch(location.href, { cache: 'no-store', signal });
      if (!response.ok) return;
      const next = new DOMParser().parseFromString(await response.text(), 'text/html');
      for (const region of regions()) {
        const fresh = next.getElementById(region.id);
        if (fresh === null || fresh.innerHTML === seen.get(region.id)) continue;
        seen.set(region.id, fresh.innerHTML);
        put(region, fresh);
      }
      say('live');
    } catch { say('waiting'); }
  };

  const run = async () => {
    if (!document.hidden) await refresh();
    setTimeout(run, 1000);
  };
  run();
})();
`;
