import { afterEach, expect, it, vi } from 'vitest';
import { createKeyring } from '../src/secret.js';

const SECRET = 'a-webhook-secret-of-some-length';
const logger = { warn: () => undefined, error: () => undefined };

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  ['production', undefined],
  ['development', SECRET],
])('keeps the secret for the diagnosis beside the keys in %s as %j', async (env, kept) => {
  vi.stubEnv('NODE_ENV', env);
  const fixed = createKeyring(SECRET, logger);
  const provided = createKeyring(() => ({ secret: SECRET, tenant: null }), logger);
  for (const keyring of [fixed, provided]) expect((await keyring({})).secret).toBe(kept);
});
