/**
 * Installs every package from tarballs, as a user would, and checks its dependencies: no install
 * script, and a registry signature for each. `--sbom <file>` writes a CycloneDX list. Build first.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packedAll } from './pack.mjs';

const { values } = parseArgs({ options: { sbom: { type: 'string' } } });
const folder = mkdtempSync(join(tmpdir(), 'paylink-supply-chain-'));

// Without peers, because users choose their framework and driver.
const npm = (args, timeout = 300_000) =>
  spawnSync('npm', [...args, '--legacy-peer-deps'], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
    timeout,
  });

/**
 * Returns the registry's report on signatures, or undefined if the registry, such as a mirror, has
 * none.
 */
function signatures() {
  try {
    // Without a way to the keys of Sigstore, npm retries for minutes.
    const audit = JSON.parse(npm(['audit', 'signatures', '--json'], 30_000).stdout);
    return Array.isArray(audit.invalid) ? audit : undefined;
  } catch {
    return undefined;
  }
}

try {
  const dependencies = Object.fromEntries(
    Object.entries(packedAll(folder)).map(([name, path]) => [name, `file:${path}`]),
  );
  // Overrides too: before a release, the registry does not have these versions of Paylink's
  // packages.
  const manifest = {
    name: 'paylink',
    version: '0.0.0',
    private: true,
    dependencies,
    overrides: dependencies,
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const installed = npm(['install', '--no-audit', '--no-fund', '--ignore-scripts']);
  if (installed.status !== 0) throw new Error(`npm install failed: ${installed.stderr}`);

  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  console.log(
    `${Object.keys(packages).length - 1} packages installed, ${scripted.length} with an ` +
      `install script ${scripted.join(' ')}`,
  );
  if (scripted.length > 0) process.exitCode = 1;

  if (values.sbom !== undefined) {
    const { stdout } = npm(['sbom', '--sbom-format=cyclonedx', '--omit=dev']);
    console.log(`${JSON.parse(stdout).components.length} components in ${values.sbom}`);
    writeFileSync(values.sbom, stdout);
  }

  const audit = signatures();
  if (audit === undefined) console.log('signatures not checked: this registry offers none');
  else console.log(`${audit.invalid.length} invalid signatures, ${audit.missing.length} missing`);
  // A release uses the public registry, which has signatures.
  const unsigned =
    audit === undefined
      ? process.env.GITHUB_ACTIONS !== undefined
      : audit.invalid.length + audit.missing.length > 0;
  if (unsigned) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
