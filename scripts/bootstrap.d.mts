import type { SpawnOptions } from 'node:child_process';

export const ROOT: string;
export function install(): Promise<void>;
export function build(): Promise<void>;
export function run(
  command: string,
  args: readonly string[],
  options?: SpawnOptions,
  onOutput?: (piece: Buffer) => void,
): Promise<number>;
