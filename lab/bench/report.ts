/** The results of a run, as printed by `--json`. */
export interface Report {
  readonly node: string;
  readonly cpu: string;
  readonly sections: readonly Section[];
  readonly goals: readonly Goal[];
}

export interface Section {
  readonly title: string;
  /** Explanations of the figures. */
  readonly notes: readonly string[];
  readonly rows: readonly Row[];
}

/** A line of a section's table: a contestant under one load, with its figures by column. */
export interface Row {
  readonly load: string;
  readonly contestant: string;
  readonly figures: Readonly<Record<string, number>>;
}

export interface Goal {
  readonly title: string;
  readonly bound: 'at most' | 'at least';
  readonly goal: number;
  readonly reached: number;
}

export function isReached({ bound, goal, reached }: Goal): boolean {
  return bound === 'at most' ? reached <= goal : reached >= goal;
}
