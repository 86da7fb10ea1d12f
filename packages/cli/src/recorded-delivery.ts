/** Real deliveries as files: what arrived, byte for byte, to be replayed later. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { usageFailure } from './failure.js';
import { readText } from './input.js';
import { writeWhole } from './kept-secrets.js';

export interface RecordedDelivery {
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  readonly method: string;
  /** Each header line as it arrived, in its order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const FORMAT = 'paylink delivery 1';

/** Writes a delivery into a private file of the folder, and gives its path. The file holds a genuine signature: keep it private. */
export async function record(folder: string, { body, ...delivery }: RecordedDelivery): Promise<string> {
  const name = `${delivery.receivedAt.replace(/[:.]/g, '-')}-${randomBytes(3).toString('hex')}.json`;
  const path = join(folder, name);
  await writeWhole(path, `${JSON.stringify({ format: FORMAT, ...delivery, body: body.toString('base64') }, null, 2)}\n`);
  return path;
}

/** @throws Failure where the file is not a recorded delivery */
export async function readRecorded(path: string): Promise<RecordedDelivery> {
  const text = await readText(path, '--replay');
  try {
    const { format, receivedAt, method, headers, body } = JSON.parse(text) as Record<string, unknown>;
    const areLines =
      Array.isArray(headers) &&
      headers.every((line) => Array.isArray(line) && line.length === 2 && line.every((part) => typeof part === 'string'));
    if (format === FORMAT && typeof method === 'string' && areLines && typeof body === 'string') {
      return { receivedAt: String(receivedAt), method, headers: headers as [string, string][], body: Buffer.from(body, 'base64') };
    }
  } catch {
    // Answered below, as any other content.
  }
  throw usageFailure(`--replay: ${path} is no delivery that paylink listen has recorded`);
}
