import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { describe } from 'vitest';

/** Debian's paths. The shell has no windows, and needs half the processor time. */
const PATHS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const EXECUTABLE =
  process.env['PAYLINK_CHROMIUM'] ?? PATHS.find((path) => existsSync(path)) ?? PATHS[0]!;

const HOW_TO_GET_ONE =
  'Install chromium-headless-shell or chromium, or name an executable of Chromium in ' +
  'PAYLINK_CHROMIUM.';

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Describes tests that need a real Chromium. Without one, they fail in CI and are skipped elsewhere
 * with a message.
 */
export function describeInChromium(title: string, body: () => void): void {
  const isThere = existsSync(EXECUTABLE);
  if (!isThere && process.env['CI'] !== undefined)
    throw new Error(`there is no Chromium at ${EXECUTABLE}. ${HOW_TO_GET_ONE}`);
  if (!isThere)
    console.warn(
      `SKIPPED, since there is no Chromium at ${EXECUTABLE}: ${title}. ${HOW_TO_GET_ONE}`,
    );
  describe.skipIf(!isThere)(title, body);
}

/** Opens a browser with a new profile, and deletes the profile on close. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}
