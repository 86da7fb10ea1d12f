import { createHash } from 'node:crypto';

/** The base style of all pages: colours, type, fields, buttons, focus. */
const BASE = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --text: #14171f; --soft: #555c6a;
  --rule: #e1e4ea; --line: #858e9e; --strong: #0b6b3a; --strong-hover: #09572f; --on-strong: #fff;
  --hover: #f0f2f5; --good: #0b5a31; --good-back: #e2f4e9; --bad: #9b1c1c; --bad-back: #fdecec;
  --note: #7a4b00; --note-back: #fff2d4; --calm: #3f4856; --calm-back: #eceff3;
  --shadow: 0 1px 2px rgb(15 20 30 / .06), 0 8px 24px rgb(15 20 30 / .06); }
@media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #171b22; --text: #edf0f4;
  --soft: #a6afbd; --rule: #2a313c; --line: #6f7a8b; --strong: #4ade80; --strong-hover: #6ee79a;
  --on-strong: #06220f; --hover: #1f252e; --good: #86efac; --good-back: #11331f; --bad: #ffb4b4;
  --bad-back: #43191a; --note: #ffd68a; --note-back: #392a08; --calm: #c5ccd7;
  --calm-back: #262d38; --shadow: none; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1, h2, h3, h4, p, dl, dd, ul { margin: 0; }
h1 { font-size: 1.375rem; line-height: 1.3; letter-spacing: -.01em; }
bdi { unicode-bidi: isolate; }
a { color: inherit; text-underline-offset: .2em; }
label { display: block; font-weight: 600; }
input { width: 100%; min-height: 3rem; padding: .5rem .75rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--line); border-radius: .625rem; }
input[aria-invalid] { border-color: var(--bad); border-width: 2px; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem;
  border: 1px solid var(--line); border-radius: .625rem; background: transparent; color: inherit;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
button:hover { background: var(--hover); }
.strong { border-color: var(--strong); background: var(--strong); color: var(--on-strong); }
.strong:hover { border-color: var(--strong-hover); background: var(--strong-hover); }
.quiet { border-color: transparent; color: var(--soft); font-weight: 400;
  text-decoration: underline; text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.soft { color: var(--soft); font-size: .9375rem; }
.banner { padding: .5rem .75rem; border-radius: .5rem; background: var(--note-back);
  color: var(--note); font-size: .875rem; }
.alert { padding: .75rem; border-radius: .5rem; background: var(--bad-back); color: var(--bad); }
`;

const HOSTED = `
body { min-height: 100svh; padding: 1rem; display: grid; place-items: start center; }
main { width: 100%; max-width: 26rem; padding: 1.25rem; background: var(--card);
  border-radius: 1rem; box-shadow: var(--shadow); }
.merchant { margin-top: 1.25rem; font-weight: 600; }
h1 { margin-top: 1.25rem; white-space: pre-line; }
.merchant + h1 { margin-top: .25rem; }
.long { max-height: 12rem; padding: .75rem; overflow: auto; border: 1px solid var(--rule);
  border-radius: .625rem; font-size: 1rem; }
.amount { margin: .25rem 0 1.25rem; font-size: 2.25rem; font-weight: 700; line-height: 1.2;
  letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.alert { margin: .75rem 0; }
form { margin-top: .75rem; }
label { margin: 1rem 0 .375rem; }
input { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
#bounds { margin: .5rem 0 1rem; }
.mark { display: block; width: 3rem; height: 3rem; margin: 1.5rem 0 -.5rem; padding: .75rem;
  border-radius: 50%; background: var(--calm-back); color: var(--calm); fill: none;
  stroke: currentColor; stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
.mark.good { background: var(--good-back); color: var(--good); }
.mark.bad { background: var(--bad-back); color: var(--bad); }
.facts { margin-top: 1.25rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
.facts dt { color: var(--soft); font-size: .875rem; }
.facts dd { font-size: .9375rem; }
.button { margin-top: 1.25rem; }
@media (min-width: 40rem) { body { place-items: center; } main { padding: 2rem; } }
`;

const DASHBOARD = `
.bar { border-bottom: 1px solid var(--rule); background: var(--card); }
.bar > div, main { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
.bar > div { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem;
  padding-top: .75rem; padding-bottom: .75rem; }
.brand { display: flex; align-items: center; gap: .5rem; min-height: 1.5rem; font-weight: 700;
  text-decoration: none; }
.brand svg { width: 1.5rem; height: 1.5rem; flex: none; }
.bar .banner { padding: .125rem .5rem; font-size: .8125rem; }
.live { margin-left: auto; color: var(--soft); font-size: .875rem; }
.live::before { content: ""; display: inline-block; width: .5rem; height: .5rem;
  margin-right: .375rem; border-radius: 50%; background: var(--line); }
.live[data-state=live]::before { background: var(--strong); }
main { padding-top: 1.5rem; padding-bottom: 4rem; }
.stack > * + * { margin-top: 1rem; }
h2, h3 { font-size: 1.0625rem; line-height: 1.4; }
h4 { font-size: .9375rem; }
.lead { margin-top: .25rem; color: var(--soft); }
.card { padding: 1rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: .875rem; box-shadow: var(--shadow); }
.facts { display: grid; gap: .625rem 1.5rem; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { font-size: .9375rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: .875em; }
pre { margin: .375rem 0 0; padding: .75rem; background: var(--page); border-radius: .625rem;
  border: 1px solid var(--rule); line-height: 1.5; white-space: pre-wrap; direction: ltr; }
.rows { margin-top: .75rem; padding: 0; list-style: none; }
.rows > li { display: grid; grid-template-columns: minmax(0, 3fr) minmax(auto, 2fr); gap: .125rem;
  padding: .75rem 0; border-top: 1px solid var(--rule); }
.rows a { min-height: 1.5rem; font-weight: 600; }
.money, .amount { font-variant-numeric: tabular-nums; }
.money { text-align: right; }
.rows .more { grid-column: 1 / -1; }
.more { display: flex; flex-wrap: wrap; align-items: center; gap: .125rem .625rem;
  color: var(--soft); font-size: .875rem; }
.badge { padding: .0625rem .5rem; border-radius: 1rem; background: var(--calm-back);
  color: var(--calm); font-size: .8125rem; font-weight: 600; }
.badge.good { background: var(--good-back); color: var(--good); }
.badge.bad { background: var(--bad-back); color: var(--bad); }
.badge.note { background: var(--note-back); color: var(--note); }
.title { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
.title form { margin-left: auto; }
.title button { min-height: 2.5rem; padding: .25rem 1rem; }
.amount { font-size: 1.75rem; font-weight: 700; }
.empty { padding: .75rem 0; color: var(--soft); }
.delivery { padding: 1rem 0; border-top: 1px solid var(--rule); }
summary { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; min-height: 2.25rem;
  cursor: pointer; list-style: none; }
summary::before { content: ""; width: .5rem; height: .5rem; margin: 0 .25rem;
  border: solid var(--soft); border-width: 0 2px 2px 0; transform: rotate(-45deg); }
details[open] > summary::before { transform: rotate(45deg); }
.exchange { display: grid; gap: 1rem; padding: .5rem 0 1rem; }
.exchange > div { min-width: 0; }
.back { display: inline-block; min-height: 1.5rem; margin-bottom: .75rem; color: var(--soft); }
@media (min-width: 40rem) {
  main { padding-top: 2rem; } .card { padding: 1.25rem 1.5rem; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
    .exchange { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  main .button { display: inline-block; width: auto; }
}
`;

export const HOSTED_STYLE = BASE + HOSTED;
export const DASHBOARD_STYLE = BASE + DASHBOARD;

/** Returns a Content-Security-Policy source that allows exactly this text. */
export function sourceOfText(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
