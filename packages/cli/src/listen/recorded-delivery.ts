/** Stores real deliveries as files, byte for byte, for later replays. */
import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { usageFailure } from '../terminal/failure.js';
import { readText } from '../terminal/input.js';
import { writeWhole } from '../settings/whole-file.js';

export interface RecordedDelivery {
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  readonly method: string;
  /** Each header line as it arrived, in its order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const FORMAT = 'paylink delivery 1';
/** The time of arrival and six random digits. The folder's other files do not count. */
const NAME = /^\d{4}-\d\d-\d\dT[\d-]+Z-[0-9a-f]{6}\.json$/;

/** Records into a folder and returns the file's path, or undefined if the folder is full. */
export type Recorder = (delivery: RecordedDelivery) => Promise<string | undefined>;

/**
 * Writes each delivery into a private file, because the file holds a genuine signature. Never
 * deletes a file: otherwise a stranger at the tunnel's address could push out genuine deliveries
 * with forged ones.
 *
 * @param limit the most bytes of recordings in the folder
 */
export async function openRecorder(folder: string, limit: number): Promise<Recorder> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name));
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  let held = sizes.reduce((sum, size) => sum + size, 0);
  return async ({ body, ...delivery }) => {
    const text = `${JSON.stringify({ format: FORMAT, ...delivery, body: body.toString('base64') }, null, 2)}\n`;
    if (held + Buffer.byteLength(text) > limit) return undefined;
    held += Buffer.byteLength(text);
    const path = join(
      folder,
      `${delivery.receivedAt.replace(/[:.]/g, '-')}-${randomBytes(3).toString('hex')}.json`,
    );
    writeWhole(path, text);
    return path;
  };
}

/** @throws Failure if the file is not a recorded delivery */
export async function readRecorded(path: string): Promise<RecordedDelivery> {
  const text = await readText(path, '--replay');
  try {
    const { format, receivedAt, method, headers, body } = JSON.parse(text) as Record<
      string,
      unknown
    >;
    const areLines =
      Array.isArray(headers) &&
      headers.every(
        (line) =>
          Array.isArray(line) &&
          line.length === 2 &&
          line.every((part) => typeof part === 'string'),
      );
    if (format === FORMAT && typeof method === 'string' && areLines && typeof body === 'string') {
      return {
        receivedAt: String(receivedAt),
        method,
        headers: headers as [string, string][],
        body: Buffer.from(body, 'base64'),
      };
    }
  } catch {
    // Not JSON: the check below rejects it.
  }
  throw usageFailure(`--replay: ${path} is not a recording of paylink listen`);
}
