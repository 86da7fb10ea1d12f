import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionCut, Connections, Unreachable } from './connections.js';
import { genuine } from './delivery.js';
import type { Random } from './random.js';

/** The number of attempts by outcome. */
export interface Attempts {
  /** 2xx. */
  acknowledged: number;
  /** Any other status. */
  refused: number;
  /** Sent without a reply: the receiver was killed meanwhile. */
  cut: number;
  /** No receiver listened. */
  unreachable: number;
}

/**
 * The sender's wait before a retry. The contract leaves it open, and a short wait makes more
 * attempts.
 */
const RETRY_MS = 20;
/** A delivery that takes longer will never be acknowledged. */
const PATIENCE_MS = 120_000;

/** Sends like the service: until a 2xx, and sometimes twice. */
export class Sender {
  readonly attempts: Attempts = { acknowledged: 0, refused: 0, cut: 0, unreachable: 0 };
  readonly #connections = new Connections();
  readonly #ports: readonly number[];
  readonly #random: Random;

  constructor(ports: readonly number[], random: Random) {
    this.#ports = ports;
    this.#random = random;
  }

  /** Resolves with the statuses of all attempts. The last is a 2xx. @throws after some minutes */
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

  /** Sends once to one of the receivers. Returns the status, or undefined without a reply. */
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

  /** Sends the first bytes of a request, then leaves. */
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
