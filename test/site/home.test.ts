/** Compares the figures of the home page, in both languages, with the pages that have them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (page: string): string =>
  readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');

const ratio = /^\| node:http +\| 200 B +\|.*?\| ([\d.]+) +\| [\d.]+ +\|$/m.exec(
  read('performance.md'),
)![1]!;
const [, attacks, hosts] = /(\d+) attacks on each of (\d+) hosts/.exec(read('index.md'))!;

describe('the home page', () => {
  it('has the ratio that the bench wrote for node:http and 200 B', () => {
    expect(read('index.md')).toContain(`**${ratio} times the requests per CPU second**`);
    expect(read('fr/index.md')).toContain(
      `**${ratio.replace('.', ',')} fois plus de requêtes par seconde de CPU**`,
    );
  });

  it('has the same number of hosts and attacks in French', () => {
    expect(read('fr/index.md')).toContain(
      `${attacks} attaques contre chacune des ${hosts} plateformes`,
    );
  });
});
