/**
 * Installs every package as a user would, from tarballs, and looks at what came with them: no install script, each dependency
 * signed by the registry, and, with `--sbom <file>`, a list of all of them in CycloneDX. Build first.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pnpm } from './bootstrap.mjs';

const { values } = parseArgs({ options: { sbom: { type: 'string' } } });

const folder = mkdtempSync(join(tmpdir(), 'paylink-supply-chain-'));
const npm = (...args) =>
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 1024 * 1024 });
try {
  await pnpm(['--filter', './packages/*', 'exec', 'pnpm', 'pack', '--pack-destination', folder]);
  const tarballs = readdirSync(folder).map((name) => `file:./${name}`);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'paylink', version: '0.0.0', private: true }));
  npm('install', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs);

  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  console.log(
    `${Object.keys(packages).length - 1} packages installed, ${scripted.length} with an install script ${scripted.join(' ')}`,
  );
  if (scripted.length > 0) process.exitCode = 1;

  if (values.sbom !== undefined) writeFileSync(values.sbom, npm('sbom', '--sbom-format=cyclonedx', '--omit=dev'));
  console.log(npm('audit', 'signatures').toString().trim());
} finally {
  rmSync(folder, { recursive: true });
}
