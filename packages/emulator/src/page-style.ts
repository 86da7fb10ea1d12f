import { createHash } from 'node:crypto';

export const STYLE = `
:root { color-scheme: light dark; --page: #f3f4f6; --card: #fff; --text: #14171f; --soft: #565d6b; --line: #8a93a3;
  --strong: #0b6b3a; --on-strong: #fff; --warn: #9b1c1c; --warn-back: #fdecec; --note: #7a4b00; --note-back: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --page: #0f1217; --card: #1a1f27; --text: #eef1f5; --soft: #a7b0be; --line: #6b7585;
  --strong: #4ade80; --on-strong: #06220f; --warn: #ffb4b4; --warn-back: #451a1a; --note: #ffd68a; --note-back: #3a2c08; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; padding: 1rem; display: grid; place-items: start center; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 1.25rem; background: var(--card); border-radius: 1rem; overflow-wrap: anywhere; }
h1 { margin: 1rem 0 .25rem; font-size: 1.25rem; }
p { margin: .25rem 0; }
.banner { margin: 0; padding: .5rem .75rem; border-radius: .5rem; background: var(--note-back); color: var(--note); font-size: .875rem; }
.amount { font-size: 2.25rem; font-weight: 700; line-height: 1.2; margin: .5rem 0; }
.soft { color: var(--soft); font-size: .9375rem; }
.alert { padding: .75rem; border-radius: .5rem; background: var(--warn-back); color: var(--warn); }
form { margin-top: .75rem; }
label { display: block; font-weight: 600; margin-top: 1rem; }
input { width: 100%; min-height: 3rem; padding: .5rem .75rem; font: inherit; font-size: 1.25rem; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: .625rem; }
button, .button { display: block; width: 100%; min-height: 3rem; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: .625rem;
  background: transparent; color: inherit; font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
button.strong, .button.strong { margin-top: 1rem; border-color: var(--strong); background: var(--strong); color: var(--on-strong); }
button.quiet { border-color: transparent; color: var(--soft); font-weight: 400; text-decoration: underline; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
@media (min-width: 40rem) { body { place-items: center; } main { padding: 2rem; } }
`;

/** The source expression that lets exactly this style through a Content-Security-Policy. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
