/**
 * Measures what Paylink adds to the cold start of a function: a handler of Lambda with payments and
 * the client, bundled by esbuild, in a new process each time. The times are of the processor, so
 * another program of the machine does not change them.
 *
 * `pnpm lab cold-start [--starts 40] [--write]`. `--write` writes docs/serverless.md.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { median } from '../bench/statistics.js';
import { writeBetweenMarks } from '../docs-page.js';
import { readOptions } from '../options.js';
import { SOURCE } from '../../scripts/source.mjs';

const { values } = readOptions({
  options: {
    starts: { type: 'string', default: '20' },
    write: { type: 'boolean', default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'paylink-cold-start-'));
try {
  const bundle = join(folder, 'handler.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL('handler.ts', import.meta.url))],
    outfile: bundle,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    conditions: [SOURCE],
  });
  const starts = Array.from({ length: Number(values.starts) }, () => startOnce(bundle));
  const kilobytes = (statSync(bundle).size / 1_000).toFixed(0);
  const [load, first] = (['load', 'first'] as const).map((step) =>
    median(starts.map((start) => start[step])).toFixed(0),
  );
  const text =
    `Paylink adds ${load} ms of processor time to a cold start. In that time, Node loads ` +
    `a bundle of ${kilobytes} kB with ` +
    '`@paylink/lambda`, `@paylink/payments` and `@paylink/client`. ' +
    `The first notification takes another ${first} ms. Each figure is the median of ` +
    `${starts.length} processes on Node ${process.versions.node} (${cpus()[0]!.model.trim()}).`;
  console.log(text);
  if (values.write) await writeBetweenMarks('serverless.md', 'cold start', () => text);
} finally {
  rmSync(folder, { recursive: true });
}

/** Milliseconds of the processor to load the bundle, and to answer the first notification. */
function startOnce(bundle: string): { readonly load: number; readonly first: number } {
  const script = `
    const { handler, notification } = require(${JSON.stringify(bundle)});
    const loaded = process.cpuUsage(before);
    handler(notification).then(({ statusCode }) => {
      const { user, system } = process.cpuUsage(before);
      const load = loaded.user + loaded.system;
      if (statusCode !== 200) throw new Error('answered ' + statusCode);
      console.log(JSON.stringify({ load: load / 1000, first: (user + system - load) / 1000 }));
    });`;
  const program = `const before = process.cpuUsage();${script}`;
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })) as {
    readonly load: number;
    readonly first: number;
  };
}
