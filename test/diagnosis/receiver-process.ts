import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { PATH } from '../adapters/deliveries.js';

/** A receiver in another process, with clients for the service and for a stranger. */
export class ReceiverProcess {
  readonly #process: ChildProcess;
  // Closes idle connections well before the server's 5 s: a request sent at that moment would get
  // no reply.
  readonly #agent = new http.Agent({ keepAlive: true, timeout: 1_000 });
  readonly #port: Promise<number>;
  #fire: Promise<void> | undefined;
  #firing = false;

  /** @param script the bundle of server.ts */
  constructor(script: string, host: string, diagnosis: 'on' | 'off') {
    this.#process = fork(script, [host, diagnosis], {
      execArgv: ['--max-old-space-size=512'],
      env: Object.assign({ ...process.env }, { NODE_ENV: '' }),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#port = once(this.#process, 'message').then(
      ([message]) => (message as { port: number }).port,
    );
  }

  async post(
    body: Buffer,
    headers: http.OutgoingHttpHeaders,
    agent: http.Agent | false = this.#agent,
  ): Promise<number> {
    const options = {
      host: '127.0.0.1',
      port: await this.#port,
      method: 'POST',
      path: PATH,
      agent,
    };
    return new Promise((resolve, reject) => {
      http
        .request(
          { ...options, headers: { ...headers, 'content-length': body.length } },
          (reply) => {
            reply.once('error', reject).once('end', () => {
              resolve(reply.statusCode!);
            });
            reply.resume();
          },
        )
        .once('error', reject)
        .end(body);
    });
  }

  /** Returns the resident memory in bytes. */
  async memory(): Promise<number> {
    this.#process.send('memory');
    const [{ rss }] = (await once(this.#process, 'message')) as [{ rss: number }];
    return rss;
  }

  /**
   * Sends the bodies in turn with well-formed signatures, one every `pause` milliseconds, until it
   * is stopped.
   */
  openFire(bodies: readonly Buffer[], pause: number): void {
    this.#firing = true;
    this.#fire = (async () => {
      for (let index = 0; this.#firing; index++) {
        const body = bodies[index % bodies.length]!;
        const next = new Promise((resolve) => setTimeout(resolve, pause));
        const status = await this.post(body, forgedHeaders, false);
        if (status !== 401) throw new Error(`a forged request was answered with ${status}`);
        await next;
      }
    })();
  }

  async ceaseFire(): Promise<void> {
    this.#firing = false;
    await this.#fire;
  }

  async end(): Promise<void> {
    this.#firing = false;
    this.#agent.destroy();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }
}

export const forgedHeaders = {
  'content-type': 'application/json',
  'x-service-event': 'payment.succeeded',
  'x-service-signature': 'ab'.repeat(32),
};
