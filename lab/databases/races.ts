/** Races and kills of one recipe, in processes of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Engine } from './engines.js';
import { SOURCE } from '../../scripts/source.mjs';

const EXAMPLES = fileURLToPath(new URL('../../examples/databases/', import.meta.url));

export interface Tally {
  races: number;
  kills: number;
  /** Acknowledged, and not paid in the database. */
  lost: number;
  /** Credited more than once. */
  doubled: number;
}

/** Bundles the worker with one recipe, beside the recipe's dependencies. */
export async function bundleWorker(recipe: string): Promise<string> {
  const manifest = JSON.parse(readFileSync(`${EXAMPLES}package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const outfile = `${EXAMPLES}.cache/lab/${recipe}.mjs`;
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile,
    alias: { recipe: `${EXAMPLES}${recipe}.ts` },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: [SOURCE],
    external: Object.keys(manifest.dependencies)
      .filter((name) => !name.startsWith('@paylink/'))
      .flatMap((name) => [name, `${name}/*`]),
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    logLevel: 'error',
  });
  return outfile;
}

class Worker {
  readonly paid = new Set<string>();
  readonly #child: ChildProcess;
  readonly #listeners = new Set<() => void>();
  #isReady = false;

  constructor(bundle: string, env: Engine['env']) {
    this.#child = spawn(process.execPath, [bundle], {
      cwd: EXAMPLES,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdin!.on('error', () => undefined);
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      if (line === 'ready') this.#isReady = true;
      else this.paid.add(line);
      for (const listener of this.#listeners) listener();
    });
  }

  ready(): Promise<void> {
    return this.#until(() => this.#isReady);
  }

  pay(references: readonly string[], calls?: number): void {
    const more = calls === undefined ? '' : ` ${calls}`;
    this.#child.stdin!.write(references.map((reference) => `${reference}${more}\n`).join(''));
  }

  allPaid(references: readonly string[]): Promise<void> {
    return this.#until(() => references.every((reference) => this.paid.has(reference)));
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #until(reached: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the worker ended early'));
      const check = (): void => {
        if (!reached()) return;
        this.#listeners.delete(check);
        this.#child.off('exit', ended);
        resolve();
      };
      this.#child.once('exit', ended);
      this.#listeners.add(check);
      check();
    });
  }
}

const newReferences = (length: number): string[] => Array.from({ length }, () => randomUUID());

export async function raceRecipe(
  recipe: string,
  engine: Engine,
  { races, kills }: { readonly races: number; readonly kills: number },
): Promise<Tally> {
  const bundle = await bundleWorker(recipe);
  const tally: Tally = { races, kills, lost: 0, doubled: 0 };
  const judge = async (references: readonly string[], acknowledged: Iterable<string>) => {
    const paid = await engine.paid(references);
    for (const reference of acknowledged) if (!paid.has(reference)) tally.lost += 1;
  };
  const count = async (references: readonly string[]) => {
    for (const times of await engine.credits(references)) if (times > 1) tally.doubled += 1;
  };

  const two = [new Worker(bundle, engine.env), new Worker(bundle, engine.env)];
  await Promise.all(two.map((worker) => worker.ready()));
  const raced = newReferences(races);
  await engine.insert(raced);
  for (const reference of raced) {
    for (const worker of two) worker.pay([reference], 10);
    await Promise.all(two.map((worker) => worker.allPaid([reference])));
  }
  await judge(raced, raced);
  await count(raced);
  await Promise.all(two.map((worker) => worker.kill()));

  const killed: string[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const references = newReferences(8);
    killed.push(...references);
    await engine.insert(references);
    const worker = new Worker(bundle, engine.env);
    await worker.ready();
    worker.pay(references);
    // Before, between and after the statements, which take a few milliseconds.
    await new Promise((resolve) => setTimeout(resolve, randomInt(0, 12)));
    await worker.kill();
    await judge(references, worker.paid);
  }
  const last = new Worker(bundle, engine.env);
  await last.ready();
  last.pay(killed);
  await last.allPaid(killed);
  await last.kill();
  await judge(killed, killed);
  await count(killed);
  return tally;
}
