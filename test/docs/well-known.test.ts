import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeWellKnown } from '../../docs/.vitepress/well-known.js';
import { attackData } from '../../packages/testing/src/attacks/data.js';
import { SKILL, skillOf } from '../../scripts/skill.mjs';

const agents = readFileSync(new URL('../../AGENTS.md', import.meta.url), 'utf8');

it('The skill of assistants has the rules of AGENTS.md, and says that it moves no money', () => {
  const skill = readFileSync(SKILL, 'utf8');
  expect(skill, 'run `node scripts/skill.mjs`').toBe(skillOf(agents));
  expect(skill).toMatch(/^---\nname: paylink\ndescription: >-\n[^]*moves no money[^]*\n---\n/);
  for (const [rule] of agents.matchAll(/^\d+\. .*$/gm)) expect(skill).toContain(rule.slice(0, 40));
});

it('The site serves the skill with its digest, and the attacks with their judges', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-well-known-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeWellKnown(folder);
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const { skills } = JSON.parse(read('.well-known/agent-skills/index.json')) as {
    skills: [{ name: string; url: string; digest: string; description: string }];
  };
  const skill = read(`.well-known/agent-skills/${skills[0].url}`);
  expect(skills[0].digest).toBe(`sha256:${createHash('sha256').update(skill).digest('hex')}`);
  expect(skills[0].description).toMatch(/^Adds payments .* moves no money\.$/);
  expect(JSON.parse(read('attacks/attacks.json'))).toEqual(attackData());
  for (const language of ['py', 'php', 'go'])
    expect(read(`attacks/judge.${language}`)).toContain('attacks.json');
});
