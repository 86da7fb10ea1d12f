import type { SpawnOptions } from 'node:child_process';

export function run(
  command: string,
  args: readonly string[],
  options?: SpawnOptions,
  onOutput?: (piece: Buffer) => void,
): Promise<number>;
