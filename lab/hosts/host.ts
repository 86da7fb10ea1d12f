/** A host: its needs, its build and server commands, and the attacks that it makes impossible. */
import type { Versioned } from './versions.js';

export interface Exception {
  /** Matches the attacks by their words. */
  readonly what: RegExp;
  /** The reason why the host makes them impossible. */
  readonly why: string;
}

export interface Host {
  /** The name on the command line and of the folder in `projects`. */
  readonly id: string;
  readonly name: string;
  /** The package whose version is the host's. */
  readonly version: Versioned;
  /** The file that the documentation shows. */
  readonly shows: string;
  /** A Markdown note for the documentation. */
  readonly note?: string;
  /** The path of the shared `orders.ts` in the project. Default: `src/orders.ts`. */
  readonly orders?: string;
  /** Files from `projects` that the host copies. */
  readonly copies?: readonly string[];
  /** The Paylink packages that it imports. */
  readonly ours: readonly string[];
  /** The other packages that it installs. */
  readonly others: readonly Versioned[];
  /**
   * The `tsconfig.….json` of `projects`, which a file of the project's own replaces. Default:
   * `node` for a build with `tsc`, otherwise none.
   */
  readonly tsconfig?: 'node' | 'next' | 'bun' | 'vercel';
  /** The commands that check its types and build it, in its folder. */
  readonly build: readonly string[];
  /** The name of the build tool. Default: the last build command. */
  readonly builtWith?: string;
  /** Returns the command that serves it. */
  readonly serve: (port: number) => string;
  readonly env?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly exceptions?: readonly Exception[];
}
