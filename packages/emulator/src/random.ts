import { createHash, randomBytes } from 'node:crypto';

/** The source of tokens, ids and delays: unpredictable, or repeatable with a seed. */
export interface Random {
  /** Returns bytes of a stream. Reads of one stream do not change another stream's bytes. */
  bytes(stream: string, length: number): Buffer;
  /** Returns a UUID of version 4. */
  uuid(stream: string): string;
  /** Returns a number from 0 up to, but excluding, 1. */
  fraction(stream: string): number;
  /** Restarts every stream. */
  restart(): void;
}

/**
 * Uses the system's random bytes without a seed. Seeded bytes can be predicted, so they protect
 * nothing.
 */
export function createRandom(seed?: string | number): Random {
  const asked = new Map<string, number>();
  const bytes = (stream: string, length: number): Buffer => {
    if (seed === undefined) return randomBytes(length);
    const count = asked.get(stream) ?? 0;
    asked.set(stream, count + 1);
    const hash = createHash('shake256', { outputLength: length });
    return hash.update(JSON.stringify([String(seed), stream, count])).digest();
  };
  return {
    bytes,
    uuid(stream) {
      const raw = bytes(stream, 16);
      raw[6] = (raw[6]! & 0x0f) | 0x40;
      raw[8] = (raw[8]! & 0x3f) | 0x80;
      const hex = raw.toString('hex');
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        hex.slice(12, 16),
        hex.slice(16, 20),
        hex.slice(20),
      ].join('-');
    },
    fraction: (stream) => bytes(stream, 6).readUIntBE(0, 6) / 2 ** 48,
    restart: () => asked.clear(),
  };
}
