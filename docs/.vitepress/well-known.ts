/** The site's files for programs: attacks, the skill of assistants, and security.txt. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attackData } from '../../packages/testing/src/attacks/data.js';
import { DOCS } from './pages.js';

const ROOT = join(DOCS, '..');
const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly repository?: string;
};

/** RFC 9116. A site that is built again each year never shows an old date. */
function securityTxt(address: string): string {
  const expires = new Date(Date.now() + 365 * 86_400_000).toISOString();
  return `Contact: ${address}/security/advisories/new
Expires: ${expires}
Policy: ${address}/blob/main/SECURITY.md
Preferred-Languages: en, fr
`;
}

/** Writes them below the site's folder. security.txt needs the repository's address. */
export function writeWellKnown(outDir: string): void {
  const write = (path: string, text: string): void => {
    const file = join(outDir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write('attacks/attacks.json', JSON.stringify(attackData()));
  cpSync(join(ROOT, 'packages/testing/judges'), join(outDir, 'attacks'), { recursive: true });

  const skill = readFileSync(join(ROOT, 'skills/paylink/SKILL.md'), 'utf8');
  const [, description = ''] = /^description: >-\n((?: {2}.*\n)+)/m.exec(skill) ?? [];
  write('.well-known/agent-skills/paylink/SKILL.md', skill);
  const index = {
    skills: [
      {
        name: 'paylink',
        type: 'skill-md',
        description: description.replaceAll(/\s+/g, ' ').trim(),
        url: 'paylink/SKILL.md',
        digest: `sha256:${createHash('sha256').update(skill).digest('hex')}`,
      },
    ],
  };
  write('.well-known/agent-skills/index.json', JSON.stringify(index, null, 2));
  if (repository !== undefined) write('.well-known/security.txt', securityTxt(repository));
}
