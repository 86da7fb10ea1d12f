import { expect, it } from 'vitest';

it('throws where a browser loads it, and says what to do (B18)', async () => {
  await expect(import('../src/hmac.browser.js')).rejects.toThrow(/loaded in a browser.*import it from server code only/);
});
