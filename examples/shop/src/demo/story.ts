/** Thrown if a step failed. */
class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

/** @throws StepFailed unless the condition holds */
export function mustHold(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new StepFailed(problem);
}

export interface Story {
  /** A paragraph for the reader. */
  say(text: string): void;
  /** Runs a step under its title. Rethrows its error with the step's name in front. */
  step<T>(title: string, work: (tell: (fact: string) => void) => Promise<T>): Promise<T>;
}

const BOLD = 1;
const GREEN = 32;
const RED = 31;

/** Tells the story on a stream, in colour only on a terminal that wants it. */
export function createStory(stream: NodeJS.WriteStream): Story {
  const inColour = stream.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  const paint = (code: number, text: string): string =>
    inColour ? `\u001B[${code}m${text}\u001B[0m` : text;
  let number = 0;
  return {
    say: (text) => {
      stream.write(`${text}\n`);
    },
    async step(title, work) {
      const name = `${++number}. ${title}`;
      stream.write(`\n${paint(BOLD, name)}\n`);
      try {
        return await work((fact) => {
          stream.write(`   ${paint(GREEN, '✓')} ${fact}\n`);
        });
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        stream.write(`   ${paint(RED, '✗')} ${problem}\n`);
        throw new StepFailed(`step ${name}: ${problem}`, { cause: error });
      }
    },
  };
}
