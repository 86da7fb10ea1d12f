/**
 * Runs each contestant once per round, in turn, and starts each round with another contestant.
 * Returns each contestant's samples in the order of the rounds.
 */
export async function runRounds<Sample>(
  slices: readonly (() => Promise<Sample>)[],
  rounds: number,
): Promise<Sample[][]> {
  const samples = slices.map((): Sample[] => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < slices.length; turn++) {
      const index = (round + turn) % slices.length;
      samples[index]!.push(await slices[index]!());
    }
  }
  return samples;
}
