/** The documents and manifests name the versions of Node on which the transports are tested. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { nodes } from './versions.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const tracked = (pattern: string): string[] =>
  execFileSync('git', ['ls-files', pattern], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');

const majors = nodes.map(({ version }) => Number(version.split('.')[0]));
const [, oldest] = /^(\d+\.\d+)/.exec(nodes[0]!.version)!;

it(
  'names the tested lines of Node in the table of supported versions, and no others',
  { tags: 'R01' },
  () => {
    const [, supported = ''] = /^\| Node +\| ([^|]+?) +\|/m.exec(read('docs/semver.md')) ?? [];
    const [first, ...others] = majors;
    expect(supported).toBe([`${first} from ${oldest} on`, ...others].join(', '));
  },
);

it('runs the tests of a change on the same lines', { tags: 'R01' }, () => {
  const { jobs } = parse(read('.github/workflows/ci.yml')) as {
    readonly jobs: { readonly test: { readonly strategy: { readonly matrix: object } } };
  };
  expect(jobs.test.strategy.matrix).toEqual({ node: majors });
});

it('names the oldest tested Node wherever a page names the oldest', { tags: 'R01' }, () => {
  const named = tracked('*.md').flatMap((path) =>
    [...read(path).matchAll(/Node(?:\.js)? (\d[\d.]*) (?:or (?:later|newer)|ou plus récent)/g)].map(
      ([, version]) => `${path} ${version}`,
    ),
  );
  expect(named.some((each) => each.startsWith('README.md '))).toBe(true);
  expect(named.filter((each) => !each.endsWith(` ${oldest}`))).toEqual([]);
});

it('names the oldest tested Node in `engines` of every package', { tags: 'R01' }, () => {
  const manifests = tracked('packages/*/package.json').filter(
    (path) => path.split('/').length === 3,
  );
  const engines = [...manifests, 'package.json'].map((path) => {
    const { engines } = JSON.parse(read(path)) as { readonly engines?: { readonly node: string } };
    return [path, engines?.node];
  });
  expect(engines.length).toBeGreaterThan(10);
  expect(engines.filter(([, node]) => node !== `>=${oldest}`)).toEqual([]);
});
