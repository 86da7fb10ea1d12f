import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionCut, Connections, Unreachable } from './connections.js';
import { genuine } from './delivery.js';
import type { Random } from './random.js';

/** What a sender saw, by how an attempt ended. */
export interface Attempts {
  /** 2xx. */
  acknowledged: number;
  /** Any other status. */
  refused: number;
  /** Sent, and no reply: the receiver was killed at it. */
  cut: number;
  /** No receiver listened. */
  unreachable: number;
}

/**
 * How long a sender waits before it retries. The service's own way is not shown; a short wait makes
 * for more attempts.
 */
const RETRY_MS = 20;
/** A delivery that is not acknowledged for so long never will be. */
const PATIENCE_MS = 120_000;

/** Sends as the service would: until it is answered 2xx, and at times twice. */
export class Sender {
  readonly attempts: Attempts = { acknowledged: 0, refused: 0, cut: 0, unreachable: 0 };
  readonly #connections = new Connections();
  readonly #ports: readonly number[];
  readonly #random: Random;

  constructor(ports: readonly number[], random: Random) {
    this.#ports = ports;
    this.#random = random;
  }

  /**
   * Resolves with the statuses of all attempts, the last of them 2xx. @throws when that takes
   * minutes.
   */
  async untilAcknowledged(reference: string): Promise<number[]> {
    const request = genuine(reference);
    const statuses: number[] = [];
    const started = performance.now();
    while (performance.now() - started < PATIENCE_MS) {
      const status = await this.attempt(request);
      if (status !== undefined) statuses.push(status);
      if (status !== undefined && isAcknowledged(status)) return statuses;
      await pause(this.#random.next() * RETRY_MS);
    }
    throw new Error(
      `${reference} is not acknowledged after ${statuses.length} replies, the last ` +
        `${statuses.at(-1) ?? 'missing'}`,
    );
  }

  /** Sends once, to one of the receivers. Gives the status, or nothing when there was no reply. */
  async attempt(request: Buffer): Promise<number | undefined> {
    try {
      const status = await this.#connections.send(this.#drawPort(), request);
      if (isAcknowledged(status)) this.attempts.acknowledged += 1;
      else this.attempts.refused += 1;
      return status;
    } catch (error) {
      if (error instanceof ConnectionCut) this.attempts.cut += 1;
      else if (error instanceof Unreachable) this.attempts.unreachable += 1;
      else throw error;
      return undefined;
    }
  }

  /** Sends the first bytes of a request and goes away. */
  async abandon(bytes: Buffer): Promise<void> {
    await this.#connections.abandon(this.#drawPort(), bytes);
  }

  #drawPort(): number {
    return this.#ports[this.#random.below(this.#ports.length)]!;
  }

  close(): void {
    this.#connections.close();
  }
}

export function isAcknowledged(status: number): boolean {
  return status >= 200 && status <= 299;
}
