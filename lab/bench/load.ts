/**
 * A load generator that costs a fraction of the server: raw sockets with one running request each,
 * a prepared request, and replies counted by length instead of parsed.
 */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { requestOf } from './delivery.js';

const CONNECTIONS = 48;
const OK = Buffer.from('HTTP/1.1 200 ');

export interface Load {
  /** Loads the server for `milliseconds`, and waits for the last reply. */
  run(milliseconds: number): Promise<{ readonly requests: number; readonly seconds: number }>;
  close(): void;
}

export async function connectLoad(port: number, body: Buffer): Promise<Load> {
  const request = requestOf(body);
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => connectClient(port, request)),
  );
  return {
    async run(milliseconds) {
      const started = performance.now();
      const stopSpinning = spin();
      const counts = await Promise.all(
        clients.map((client) => client.repeat(started + milliseconds)),
      );
      stopSpinning();
      return {
        requests: counts.reduce((sum, count) => sum + count),
        seconds: (performance.now() - started) / 1000,
      };
    },
    close: () => clients.forEach((client) => client.close()),
  };
}

/**
 * Keeps this process awake. Otherwise each reply of a slow server wakes a sleeping client, which
 * costs that server up to 20 µs per request on a virtual machine, and a fast server nothing.
 */
function spin(): () => void {
  let turn = setImmediate(again);
  function again(): void {
    turn = setImmediate(again);
  }
  return () => clearImmediate(turn);
}

interface Client {
  /** Sends requests in turn until the time, and returns their number. */
  repeat(until: number): Promise<number>;
  close(): void;
}

async function connectClient(port: number, request: Buffer): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  // Every reply of a server has the same length: the same headers, and a Date of fixed width.
  const replyLength = await lengthOfReply(socket, request);
  return {
    repeat: (until) => repeatRequest(socket, request, replyLength, until),
    close: () => socket.destroy(),
  };
}

async function lengthOfReply(socket: Socket, request: Buffer): Promise<number> {
  socket.write(request);
  let reply = Buffer.alloc(0);
  while (!reply.includes('}'))
    reply = Buffer.concat([reply, ...((await once(socket, 'data')) as [Buffer])]);
  if (!reply.subarray(0, OK.length).equals(OK))
    throw new Error(`a server replied ${reply.toString()}`);
  return reply.length;
}

function repeatRequest(
  socket: Socket,
  request: Buffer,
  replyLength: number,
  until: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let replies = 0;
    let received = 0;
    socket.on('data', onData).on('close', onClose);
    socket.write(request);

    function onData(chunk: Buffer): void {
      if (received === 0 && !chunk.subarray(0, OK.length).equals(OK))
        return stop(new Error(`a server replied ${chunk.toString()}`));
      received += chunk.length;
      if (received < replyLength) return;
      if (received > replyLength) return stop(new Error('a server sent a reply of another length'));
      received = 0;
      replies++;
      if (performance.now() < until) socket.write(request);
      else stop();
    }

    function onClose(): void {
      stop(new Error('a server closed the connection'));
    }

    function stop(error?: Error): void {
      socket.off('data', onData).off('close', onClose);
      if (error === undefined) resolve(replies);
      else reject(error);
    }
  });
}
