export interface Output {
  readonly code: number;
  readonly text: string;
}
export interface Part {
  readonly name: string;
}
export interface Outcome {
  readonly count: string;
  readonly short: readonly string[];
  readonly absent: readonly string[];
}
/** In the order in which they run. */
export const PARTS: readonly Part[];
/** How many there were, and what fell short. */
export function runPart(
  part: Part,
  outputOf: (args: readonly string[]) => Promise<Output>,
): Promise<Outcome>;
