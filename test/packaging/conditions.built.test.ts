import { createContext, runInContext } from 'node:vm';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { signedDelivery } from '@paylink/testing';

const secret = 'a-secret-of-the-portal';

/** Bundles core with a bundler's conditions into a script that leaves its exports in `core`. */
async function bundle(conditions: string[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['@paylink/core'],
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'core',
    platform: 'neutral',
    conditions,
    external: ['node:*'],
    // This repository's tsconfig would bypass the conditions with its paths.
    tsconfigRaw: '{}',
  });
  return outputFiles[0]!.text;
}

/** A Worker's globals, without Node's. */
function workerContext() {
  const {
    crypto,
    TextEncoder,
    TextDecoder,
    setTimeout,
    clearTimeout,
    performance,
    Uint8Array,
    Headers,
    AbortController,
  } = globalThis;
  return createContext({
    crypto,
    TextEncoder,
    TextDecoder,
    setTimeout,
    clearTimeout,
    performance,
    Uint8Array,
    ArrayBuffer,
    Headers,
    AbortController,
  });
}

describe('core’s #hmac import', () => {
  // The conditions of wrangler, of a generic worker bundle, and of Vercel's edge.
  it.each([
    [['workerd', 'worker', 'browser']],
    [['worker', 'browser']],
    [['edge-light', 'browser']],
  ])('resolves to WebCrypto under %j, needs nothing of Node, and verifies', async (conditions) => {
    const code = await bundle(conditions);
    expect(code).not.toContain('node:crypto');
    const context = workerContext();
    const { rawBody, headers } = signedDelivery({ secret });
    Object.assign(context, { rawBody: new Uint8Array(rawBody), headers, secret });
    const verified = runInContext(
      `${code}; core.createVerifier({ secret }).verify(rawBody, headers)`,
      context,
    ) as Promise<{
      reference: string;
    }>;
    expect(await verified).toMatchObject({ reference: 'order-42' });
    const forged = runInContext(
      `headers['x-service-signature'] = '${'0'.repeat(64)}'; core.createVerifier({ secret }).verify(rawBody, headers)`,
      context,
    ) as Promise<unknown>;
    await expect(forged).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it.each([[['node']], [['deno', 'node']], [['bun', 'node']]])(
    'resolves to node:crypto under %j',
    async (conditions) => {
      expect(await bundle(conditions)).toContain('node:crypto');
    },
  );

  it('throws under the conditions of a browser bundle', { tags: 'B18' }, async () => {
    const code = await bundle(['browser']);
    expect(() => void runInContext(code, workerContext())).toThrow(/loaded in a browser/);
  });
});
