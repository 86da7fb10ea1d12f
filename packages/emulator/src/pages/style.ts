import { createHash } from 'node:crypto';

/** The base style of all pages: colours, type, fields, buttons, focus. */
const BASE = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --text: #14171f; --soft: #555c6a;
  --rule: #e1e4ea; --line: #858e9e;
  --strong: #0b6b3a; --strong-hover: #09572f; --on-strong: #fff; --hover: #f0f2f5; --good: #0b5a31;
    --good-back: #e2f4e9;
  --bad: #9b1c1c; --bad-back: #fdecec; --note: #7a4b00; --note-back: #fff2d4; --calm: #3f4856;
    --calm-back: #eceff3;
  --shadow: 0 1px 2px rgb(15 20 30 / .06), 0 8px 24px rgb(15 20 30 / .06); }
@media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #171b22; --text: #edf0f4;
  --soft: #a6afbd; --rule: #2a313c;
  --line: #6f7a8b; --strong: #4ade80; --strong-hover: #6ee79a; --on-strong: #06220f;
    --hover: #1f252e; --good: #86efac;
  --good-back: #11331f; --bad: #ffb4b4; --bad-back: #43191a; --note: #ffd68a; --note-back: #392a08;
    --calm: #c5ccd7; --calm-back: #262d38;
  --shadow: none; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
h1, h2, h3, p, dl, dd, ul, ol { margin: 0; }
h1 { font-size: 1.375rem; line-height: 1.3; letter-spacing: -.01em; }
bdi { unicode-bidi: isolate; }
a { color: inherit; text-underline-offset: .2em; }
form { margin: 0; }
label { display: block; font-weight: 600; }
input, select, textarea { width: 100%; min-height: 3rem; padding: .5rem .75rem; font: inherit;
  color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .625rem; }
input[aria-invalid] { border-color: var(--bad); border-width: 2px; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem;
  border: 1px solid var(--line); border-radius: .625rem;
  background: transparent; color: inherit; font: inherit; font-weight: 600; text-align: center;
    text-decoration: none; cursor: pointer; }
button:hover, .button:hover { background: var(--hover); }
button.strong, .button.strong { border-color: var(--strong); background: var(--strong);
  color: var(--on-strong); }
button.strong:hover, .button.strong:hover { border-color: var(--strong-hover);
  background: var(--strong-hover); }
button.quiet { border-color: transparent; color: var(--soft); font-weight: 400;
  text-decoration: underline; text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.soft { color: var(--soft); font-size: .9375rem; }
.banner { padding: .5rem .75rem; border-radius: .5rem; background: var(--note-back);
  color: var(--note); font-size: .875rem; }
.alert { padding: .75rem; border-radius: .5rem; background: var(--bad-back); color: var(--bad); }
@media (prefers-reduced-motion: no-preference) { button, .button,
  a { transition: background-color .12s, border-color .12s; } }
`;

const HOSTED = `
body { min-height: 100vh; min-height: 100svh; padding: 1rem; display: grid;
  place-items: start center; }
main { width: 100%; max-width: 26rem; padding: 1.25rem; background: var(--card);
  border-radius: 1rem; box-shadow: var(--shadow); }
h1 { margin-top: 1.25rem; white-space: pre-line; }
.long { max-height: 12rem; margin-top: .5rem; padding: .75rem; overflow: auto;
  border: 1px solid var(--rule); border-radius: .625rem;
  white-space: pre-line; }
.amount { margin: .25rem 0 1.25rem; font-size: 2.25rem; font-weight: 700; line-height: 1.2;
  letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.alert { margin: .75rem 0; }
form { margin-top: .75rem; }
label { margin: 1rem 0 .375rem; }
input { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
#bounds { margin: .5rem 0 1rem; }
.mark { width: 3rem; height: 3rem; margin-top: 1.5rem; display: grid; place-items: center;
  border-radius: 50%; background: var(--calm-back); color: var(--calm); }
.mark.good { background: var(--good-back); color: var(--good); }
.mark svg { width: 1.5rem; height: 1.5rem; }
.mark + h1 { margin-top: .75rem; }
.said { margin-top: .25rem; }
.facts { margin-top: 1.25rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
.facts dt { color: var(--soft); font-size: .875rem; }
.facts dd { font-size: .9375rem; }
.button { margin-top: 1.25rem; }
@media (min-width: 40rem) { body { place-items: center; } main { padding: 2rem; } }
`;

const DASHBOARD = `
.bar { border-bottom: 1px solid var(--rule); background: var(--card); }
.bar > div, main { width: 100%; max-width: 76rem; margin: 0 auto; padding: 0 1rem; }
.bar > div { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem;
  padding-top: .75rem; padding-bottom: .75rem; }
.brand { display: flex; align-items: center; gap: .5rem; min-height: 1.5rem; font-weight: 700;
  text-decoration: none; }
.brand svg { width: 1.5rem; height: 1.5rem; flex: none; }
.bar .banner { order: 1; width: 100%; padding: .125rem .5rem; font-size: .8125rem; }
.live { display: inline-flex; align-items: center; gap: .375rem; margin-left: auto;
  color: var(--soft); font-size: .875rem; }
.live::before { content: ""; width: .5rem; height: .5rem; border-radius: 50%;
  background: var(--line); }
.live[data-state=live]::before { background: var(--strong); }
main { padding-top: 1.5rem; padding-bottom: 4rem; }
h2 { font-size: 1.0625rem; line-height: 1.4; }
h3 { font-size: .9375rem; line-height: 1.4; }
.lead { margin-top: .25rem; color: var(--soft); }
.card { padding: 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: .875rem; box-shadow: var(--shadow); }
.stack > * + * { margin-top: 1rem; }
.tiles { display: grid; grid-template-columns: repeat(2, 1fr); gap: .5rem; padding: 0;
  list-style: none; }
.tiles li { padding: .625rem .875rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: .75rem; }
.tiles b { display: block; font-size: 1.375rem; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .875rem; }
.tiles li:last-child { grid-column: 1 / -1; }
.facts { display: grid; gap: .625rem 1.5rem; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd, code { font-size: .9375rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .375rem 0 0; padding: .75rem; max-width: 100%; background: var(--page);
  border: 1px solid var(--rule); border-radius: .625rem;
  font-size: .8125rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere;
    direction: ltr; unicode-bidi: isolate; }
.sign { padding: 0 .25em; border: 1px solid currentColor; border-radius: .25em; color: var(--note);
  font: 600 .75em/1.2 ui-monospace, Menlo, monospace; }
.rows { padding: 0; list-style: none; }
.rows > li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .125rem .75rem;
  padding: .75rem 0; border-top: 1px solid var(--rule); }
.rows > li:first-child { border-top: 0; }
.rows a { display: inline-block; min-height: 1.5rem; font-weight: 600; }
.rows .money { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rows .more { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: center;
  gap: .125rem .625rem; color: var(--soft); font-size: .875rem; }
.badge { display: inline-block; padding: .0625rem .5rem; border-radius: 1rem;
  background: var(--calm-back); color: var(--calm); font-size: .8125rem;
  font-weight: 600; white-space: nowrap; }
.badge.good { background: var(--good-back); color: var(--good); }
.badge.bad { background: var(--bad-back); color: var(--bad); }
.badge.note { background: var(--note-back); color: var(--note); }
.title { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
.empty { padding: 1rem 0; color: var(--soft); }
summary { display: flex; align-items: center; gap: .5rem; min-height: 1.75rem; cursor: pointer;
  list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: ""; flex: none; width: .5rem; height: .5rem; margin: 0 .25rem;
  border: solid var(--soft); border-width: 0 2px 2px 0;
  transform: rotate(-45deg); }
details[open] > summary::before { transform: rotate(45deg); }
.fields { display: grid; gap: 1rem; margin-top: 1rem; }
.fields label, .search label { margin-bottom: .25rem; font-size: .9375rem; }
.hint { margin-top: .25rem; color: var(--soft); font-size: .875rem; }
.hint.wrong { color: var(--bad); }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
legend { padding: 0; font-weight: 600; font-size: .9375rem; }
.choice { display: flex; align-items: center; gap: .5rem; min-height: 2.25rem;
  font-weight: 400 !important; margin: 0 !important; }
.choice input { width: 1.25rem; height: 1.25rem; min-height: 0; margin: 0;
  accent-color: var(--strong); }
form:has([value=fixed]:checked) .free, form:has([value=free]:checked) .fixed { display: none; }
.search { display: grid; gap: .75rem; margin: .75rem 0 .5rem; padding-bottom: 1rem;
  border-bottom: 1px solid var(--rule); }
.search input, .search select { min-height: 2.75rem; }
.actions { display: grid; gap: .75rem; }
.actions button, .actions .button, .search button, .fault button,
  .fields button { min-height: 2.75rem; padding: .5rem 1rem; }
.fault { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: center;
  gap: .5rem 1rem; padding: .875rem 0; border-top: 1px solid var(--rule); }
.faults { margin-top: .75rem; }
.stack > .resend { margin: 1rem 0 0; padding: 0; border: 0; }
.curl { margin-top: .75rem; }
.curl button { width: auto; min-height: 2.5rem; margin-top: .5rem; padding: .25rem 1rem; }
.run-all { margin-top: .75rem; }
.fault a { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center;
  min-height: 1.5rem; margin-top: .25rem; }
.fault:first-child { border-top: 0; }
.fault p { font-size: .9375rem; }
.expected { color: var(--soft); }
.pages { display: flex; justify-content: space-between; gap: 1rem; margin-top: .5rem; }
.pages a { min-height: 1.5rem; }
.attempt { padding: .75rem 0; border-top: 1px solid var(--rule); }
.attempt:first-child { border-top: 0; }
.attempt > summary { flex-wrap: wrap; }
.attempt .exchange { display: grid; gap: 1rem; margin-top: .75rem; }
.exchange > div { min-width: 0; }
.back { display: inline-block; min-height: 1.5rem; margin-bottom: .75rem; color: var(--soft);
  font-size: .9375rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
@media (min-width: 40rem) {
  main { padding: 2rem 1.5rem 4rem; } .bar > div { padding-left: 1.5rem; padding-right: 1.5rem; }
  .card { padding: 1.25rem 1.5rem; }
  .bar .banner { order: 0; width: auto; }
  .tiles { grid-template-columns: repeat(5, 1fr); } .tiles li:last-child { grid-column: auto; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .fields { grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: start;
    } .fields .wide { grid-column: 1 / -1; }
  .search { grid-template-columns: 2fr 1fr auto; align-items: end;
    } .search.resend { grid-template-columns: 1fr auto; }
  .actions { display: flex; flex-wrap: wrap; align-items: end;
    } .actions input { min-height: 2.75rem; } .actions .hint { margin: 0 0 .25rem;
    } .actions button, .actions .button, .fault button, .fields button,
    .search button { width: auto; }
}
@media (min-width: 64rem) {
  .columns { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem;
    align-items: start; } .columns > * + * { margin-top: 0; }
  .attempt .exchange { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .faults { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 3rem; }
  .fault:nth-child(2) { border-top: 0; }
}
`;

export const HOSTED_STYLE = BASE + HOSTED;
export const DASHBOARD_STYLE = BASE + DASHBOARD;

/** Returns a Content-Security-Policy source that allows exactly this text. */
export function sourceOfText(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
