/**
 * Compares genuine requests during a flood of forged requests with the same during a flood of bare
 * 401s.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { forged, jsonBody, REFUSED_PATH, requestOf } from './delivery.js';
import { openFlood } from './flood.js';
import { HOSTS, type HostName } from './hosts/index.js';
import type { Row } from './report.js';
import { runRounds } from './rounds.js';
import { startServer } from './server-process.js';
import { median, medianRatio } from './statistics.js';

export interface SiegePlan {
  readonly rounds: number;
  readonly milliseconds: number;
}

interface Sample {
  readonly p99: number;
  readonly perSecond: number;
}

/** The share of the rate at which the server answers only bare 401s. */
const SHARE = 0.7;
const GENUINE_PER_SECOND = 200;
const SOCKETS = 32;
const request = requestOf(jsonBody(200));

/** @returns a row per flood, with the p99 of the genuine requests in milliseconds */
export async function measureForgedFlood(
  host: HostName,
  { rounds, milliseconds }: SiegePlan,
): Promise<Row[]> {
  const server = await startServer(host, 'besieged');
  const sockets = Array.from({ length: SOCKETS }, () =>
    connect({ port: server.port, host: '127.0.0.1', noDelay: true }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const bare = await openFlood(server.port, [requestOf(jsonBody(200), REFUSED_PATH)]);
  const bad = await openFlood(server.port, [forged(request)]);
  // Lets the engine compile both ways before the measurement.
  for (const flood of [bare, bad]) await flood.run(1e6, () => pause(1_000));
  const { perSecond: most } = await bare.run(1e6, () => pause(2_000));
  const slices = [bare, bad].map((flood) => async (): Promise<Sample> => {
    const { value, perSecond } = await flood.run(most * SHARE, () =>
      latencies(sockets, milliseconds),
    );
    return { p99: value.toSorted((a, b) => a - b)[Math.floor(value.length * 0.99)]!, perSecond };
  });
  const [besideBare, besideBad] = (await runRounds(slices, rounds)) as [Sample[], Sample[]];
  await Promise.all([bare.end(), bad.end()]);
  for (const socket of sockets) socket.destroy();
  server.close();
  const p99s = (samples: readonly Sample[]): number[] => samples.map(({ p99 }) => p99);
  return [besideBare, besideBad].map((samples, index) => ({
    load: HOSTS[host].title,
    contestant: ['beside bare 401s', 'beside forged'][index]!,
    figures: {
      'of them/s': median(samples.map(({ perSecond }) => perSecond)),
      'p99 ms': median(p99s(samples)),
      'to bare': medianRatio(p99s(samples), p99s(besideBare)),
    },
  }));
}

/**
 * Sends at a fixed rate even if the server falls behind, and measures from each request's due time.
 */
async function latencies(sockets: readonly Socket[], milliseconds: number): Promise<number[]> {
  const free = [...sockets];
  const waiting: number[] = [];
  const taken: number[] = [];
  const under: Promise<void>[] = [];
  const send = async (): Promise<void> => {
    while (free.length > 0 && waiting.length > 0) {
      const [socket, due] = [free.pop()!, waiting.shift()!];
      socket.write(request);
      let reply = '';
      while (!reply.endsWith('}')) reply += String((await once(socket, 'data'))[0]);
      if (!reply.startsWith('HTTP/1.1 200 ')) throw new Error(`a server replied ${reply}`);
      taken.push(performance.now() - due);
      free.push(socket);
    }
  };
  const started = performance.now();
  const all = (milliseconds / 1_000) * GENUINE_PER_SECOND;
  for (let sent = 0; sent < all;) {
    const due = started + (sent * 1_000) / GENUINE_PER_SECOND;
    if (due > performance.now()) {
      await pause(1);
      continue;
    }
    waiting.push(due);
    sent += 1;
    under.push(send());
  }
  await Promise.all(under);
  return taken;
}
