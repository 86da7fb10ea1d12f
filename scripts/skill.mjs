/**
 * Makes skills/paylink/SKILL.md, what an assistant loads before it adds Paylink to an app, from
 * AGENTS.md. `node scripts/skill.mjs` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './bootstrap.mjs';

export const SKILL = join(ROOT, 'skills', 'paylink', 'SKILL.md');

const HEAD = `---
name: paylink
description: >-
  Adds payments through the Payment Link Service to a Node app with Paylink: the webhook, the
  order's credit, the return page, the schedule and their tests. Use it to take payments, to verify
  a notification, or to find out why an order is unpaid. It writes code and moves no money.
license: MIT
---

# Take payments with Paylink

This skill does not move money. It does not hold a key, create a payment link by itself or refund a payment. Never ask for a secret. Let the
person put secrets in the environment, and use the emulator while you work.
`;

/** @param {string} agents the text of AGENTS.md */
export function skillOf(agents) {
  const [, rules] = /^## In an app that takes payments\n(.*?)^## /ms.exec(agents);
  // Paths of this repository lead nowhere in an app.
  const text = rules
    .replace(
      /(\. )?`docs\/([a-z-]+)\.md`/g,
      (_, stop, page) =>
        `${stop === undefined ? 'the' : '. The'} \`${page}\` page in the documentation`,
    )
    .replace(/^The packages are not on npm yet\..*\n\n/m, '');
  return `${HEAD}${text.trimEnd()}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(SKILL, skillOf(readFileSync(join(ROOT, 'AGENTS.md'), 'utf8')));
