/**
 * What is said of a host: what it needs, how it is built and served, and what it makes impossible.
 */
import type { Versioned } from './versions.js';

export interface Exception {
  /** The attacks, by the words that they are listed under. */
  readonly what: RegExp;
  /** Why the host makes it impossible. */
  readonly why: string;
}

export interface Host {
  /** As it is called on the command line, and the name of its folder in `projects`. */
  readonly id: string;
  readonly name: string;
  /** The package whose version is the host's. */
  readonly version: Versioned;
  /** What the documentation shows of it. */
  readonly shows: string;
  /** What else is to be known there, in Markdown. */
  readonly note?: string;
  /** Where the shared `orders.ts` lies in the project. */
  readonly orders: string;
  /** Files beside the projects that it needs in its folder. */
  readonly copies?: readonly string[];
  /** The packages of ours that it imports. */
  readonly ours: readonly string[];
  /** The other packages that it installs. */
  readonly others: readonly Versioned[];
  /** The commands that check its types and build it, in its folder. */
  readonly build: readonly string[];
  /** The command that serves it. */
  readonly serve: (port: number) => string;
  readonly env?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly exceptions?: readonly Exception[];
}
