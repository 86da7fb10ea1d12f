import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { describe } from 'vitest';

/** Where Debian has it; elsewhere `PAYLINK_CHROMIUM` names it. */
const EXECUTABLE = process.env['PAYLINK_CHROMIUM'] ?? '/usr/bin/chromium';

const HOW_TO_GET_ONE = 'Install chromium, or name an executable of Chromium in PAYLINK_CHROMIUM.';

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
 * Describes what a real Chromium is needed for: where there is none it fails in CI, and elsewhere
 * is skipped, aloud.
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

/** Opens a browser under a new, empty profile, which is deleted when it closes. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}
