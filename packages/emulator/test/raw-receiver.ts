import { createServer, type AddressInfo, type Socket } from 'node:net';

/** One connection, parsed only up to the end of the head. */
export interface RawRequest {
  /** Every byte as one character. */
  readonly text: string;
  readonly lines: readonly string[];
  readonly body: Buffer;
  /** The number of received pieces. */
  readonly pieces: number;
  /** The error code that ended the connection before the answer. */
  readonly brokenBy?: string | undefined;
}

/** A receiver below HTTP that shows the sent bytes instead of a parser's view. */
export async function startRawReceiver(statusFor: (count: number) => number = () => 200) {
  const received: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let bytes = Buffer.alloc(0);
    let pieces = 0;
    let isDone = false;
    const finish = (brokenBy?: string): void => {
      if (isDone) return;
      isDone = true;
      const end = bytes.indexOf('\r\n\r\n');
      const lines = bytes.subarray(0, end).toString('latin1').split('\r\n');
      received.push({
        text: bytes.toString('latin1'),
        lines,
        body: bytes.subarray(end + 4),
        pieces,
        brokenBy,
      });
      if (brokenBy === undefined)
        socket.end(
          `HTTP/1.1 ${statusFor(received.length)} x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        );
    };
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      pieces++;
      const end = bytes.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(bytes.toString('latin1'))?.[1]);
      if (end !== -1 && bytes.length >= end + 4 + length) finish();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code));
    socket.on('end', () => finish('FIN'));
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments?shop=1`,
    received,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}
