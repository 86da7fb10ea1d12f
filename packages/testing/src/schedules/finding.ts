/** The findings of an exploration, and its extent. */
import type { Attempt } from './attempt.js';
import { faultOf } from './fault.js';
import { tell, type Truth } from './lab.js';
import { writeStory } from './story.js';

export interface Finding {
  /** Replays the try. Even numbers are orders, odd ones are cuts. */
  readonly number: number;
  readonly kind: 'order' | 'cut';
  /** The fault in one sentence. Empty if the try was right. */
  readonly fault: string;
  readonly change: string;
  /** A line for each round. */
  readonly story: readonly string[];
}

export interface Explored {
  readonly tried: number;
  /** Known tries that a limit left out. */
  readonly left: number;
  readonly findings: readonly Finding[];
}

export interface Limits {
  readonly isOver: () => boolean;
  readonly onTry: (tried: number) => void;
}

export function findingOf(
  kind: Finding['kind'],
  number: number,
  attempt: Attempt,
  truth: Truth,
): Finding {
  const { sentence: fault, change } = faultOf(attempt, truth) ?? { sentence: '', change: '' };
  return { number, kind, fault, change, story: writeStory([...attempt.lines, tell(truth)]) };
}
