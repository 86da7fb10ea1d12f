import { Wire } from '../../packages/testing/src/wire.js';

/** Far beyond every time limit of the receiver: a slower reply never comes. */
const REPLY_TIMEOUT = 30_000;

/** The receiver left before its reply was complete, so the delivery's outcome is unknown. */
export class ConnectionCut extends Error {
  override name = 'ConnectionCut';
}

/** No receiver listens, so the delivery was not sent. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/**
 * A sender's kept-alive connections. Each carries one request at a time, and none resends by
 * itself.
 */
export class Connections {
  /** Idle connections by port. */
  readonly #idle = new Map<number, Wire[]>();

  /**
   * Sends a request over an idle or new connection, and returns the status. @throws ConnectionCut,
   * Unreachable
   */
  async send(port: number, request: Buffer): Promise<number> {
    const wire = this.#take(port) ?? (await open(port));
    await wire.write(request, REPLY_TIMEOUT);
    const answer = await wire.answer('POST', REPLY_TIMEOUT);
    if (typeof answer === 'string') {
      wire.destroy();
      throw answer === 'closed'
        ? new ConnectionCut(`closed by the receiver, ${wire.ending}`)
        : new Error(`no reply within ${REPLY_TIMEOUT} ms`);
    }
    if (answer.headers.get('connection') === 'close') wire.destroy();
    else this.#idleOf(port).push(wire);
    return answer.status;
  }

  /**
   * Sends the first bytes of a request over a new connection, then leaves.
   * @throws Unreachable
   */
  async abandon(port: number, bytes: Buffer): Promise<void> {
    const wire = await open(port);
    await wire.write(bytes);
    wire.destroy();
  }

  close(): void {
    for (const wire of [...this.#idle.values()].flat()) wire.destroy();
    this.#idle.clear();
  }

  #take(port: number): Wire | undefined {
    const idle = this.#idleOf(port);
    for (let wire = idle.pop(); wire !== undefined; wire = idle.pop()) {
      if (wire.ending === undefined) return wire;
      wire.destroy();
    }
    return undefined;
  }

  #idleOf(port: number): Wire[] {
    const idle = this.#idle.get(port) ?? [];
    this.#idle.set(port, idle);
    return idle;
  }
}

async function open(port: number): Promise<Wire> {
  try {
    return await Wire.open(port, { timeout: REPLY_TIMEOUT });
  } catch (cause) {
    throw new Unreachable('no receiver listens', { cause });
  }
}
