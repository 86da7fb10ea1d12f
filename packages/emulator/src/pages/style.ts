import { createHash } from 'node:crypto';

/** The base style of all pages: colours, type, fields, buttons, focus. */
const BASE = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --text: #14171f; --soft: #555c6a;
  --rule: #e1e4ea; --line: #858e9e; --strong: #0b6b3a; --strong-hover: #09572f; --on-strong: #fff;
  --hover: #f0f2f5; --bad: #9b1c1c; --bad-back: #fdecec; --note: #7a4b00; --note-back: #fff2d4;
  --shadow: 0 1px 2px rgb(15 20 30 / .06), 0 8px 24px rgb(15 20 30 / .06); }
@media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #171b22; --text: #edf0f4;
  --soft: #a6afbd; --rule: #2a313c; --line: #6f7a8b; --strong: #4ade80; --strong-hover: #6ee79a;
  --on-strong: #06220f; --hover: #1f252e; --bad: #ffb4b4; --bad-back: #43191a; --note: #ffd68a;
  --note-back: #392a08; --shadow: none; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1, h2, p, dl, dd, ul { margin: 0; }
h1 { font-size: 1.375rem; line-height: 1.3; letter-spacing: -.01em; }
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
.facts { margin-top: 1.25rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
.facts dt { color: var(--soft); font-size: .875rem; }
.facts dd { font-size: .9375rem; }
.button { margin-top: 1.25rem; }
@media (min-width: 40rem) { body { place-items: center; } main { padding: 2rem; } }
`;

const DASHBOARD = `
.bar, main { display: block; max-width: 60rem; margin: 0 auto; padding: .75rem 1rem; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; }
.brand { font-weight: 700; text-decoration: none; }
h2 { margin-top: 1.5rem; font-size: 1.0625rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: .875em; }
pre { margin: .375rem 0 0; padding: .75rem; border: 1px solid var(--rule); white-space: pre-wrap;
  direction: ltr; background: var(--card); }
.rows { padding: 0; list-style: none; }
.rows > li, article { padding: .75rem 0; border-top: 1px solid var(--rule); }
.rows a { font-weight: 600; }
button { width: auto; min-height: 2.5rem; padding: .25rem 1rem; }
summary { min-height: 2.25rem; padding: .375rem 0; cursor: pointer; }
`;

export const HOSTED_STYLE = BASE + HOSTED;
export const DASHBOARD_STYLE = BASE + DASHBOARD;

/** Returns a Content-Security-Policy source that allows exactly this text. */
export function sourceOfText(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
