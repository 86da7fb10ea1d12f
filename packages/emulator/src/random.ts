import { createHash, randomBytes } from 'node:crypto';

/** The source of tokens, ids and waits: unpredictable, or the same again for the same seed. */
export interface Random {
  /**
   * Bytes of a stream. Streams are independent: the bytes of one do not depend on reads of another.
   */
  bytes(stream: string, length: number): Buffer;
  /** A UUID of version 4. */
  uuid(stream: string): string;
  /** A number from 0 to 1, 1 excluded. */
  fraction(stream: string): number;
  /** Starts every stream again. */
  restart(): void;
}

/**
 * Without a seed, the bytes are those of the system. With one they can be predicted, so they
 * protect nothing.
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
