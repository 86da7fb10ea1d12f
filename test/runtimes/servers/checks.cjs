/**
 * What every server script answers beside its webhooks, with nothing of any runtime. CommonJS, so
 * that each kind can load it.
 */
const SECRET = 'a-secret-of-the-portal';
/** The public one of @paylink/testing. */
const FIXTURE = 'paylink-testing-secret-not-for-production';

const ofHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

function createChecks({ createVerifier, isWebhookError, sign, verifySignature }) {
  const credited = [];
  const verifier = createVerifier({ secret: SECRET });
  const checks = {
    '/credited': () => credited,
    '/verifier': async (body, headers) => (await verifier.verify(body, headers)).reference,
    '/signature': async (body) => {
      const asked = JSON.parse(new TextDecoder().decode(body));
      await verifySignature(ofHex(asked.rawBody), asked.signature, ofHex(asked.secret));
      return sign(ofHex(asked.rawBody), ofHex(asked.secret));
    },
    '/fixture': () => {
      try {
        createVerifier({ secret: FIXTURE });
        return 'accepted';
      } catch (error) {
        return error.message;
      }
    },
  };

  return {
    handlers: { 'payment.succeeded': ({ reference }) => void credited.push(reference) },
    /** Gives a status and a JSON body, or nothing for a path that is no check. */
    check: async (path, body, headers) => {
      if (!Object.hasOwn(checks, path)) return undefined;
      try {
        return { status: 200, body: JSON.stringify(await checks[path](body, headers)) };
      } catch (error) {
        if (!isWebhookError(error)) throw error;
        return { status: error.status, body: JSON.stringify({ error: error.code }) };
      }
    },
  };
}

module.exports = { SECRET, createChecks };
