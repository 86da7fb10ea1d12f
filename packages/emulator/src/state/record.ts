import { ConfigurationError } from '@paylink/core';
import { quote } from '../base/visible-text.js';
import { REMEDY, type Store } from './state-file.js';

/** The fields of a record in the state file. Each method throws an Error that names the field. */
export class StoredRecord {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error('is not an object');
    this.#fields = value as Readonly<Record<string, unknown>>;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }

  text(name: string): string {
    return this.#must(name, 'a string', (value) => typeof value === 'string') as string;
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T {
    return this.#must(name, choices.join(' or '), (value) => choices.includes(value as T)) as T;
  }

  texts(name: string): string[] {
    const isList = (value: unknown): boolean =>
      Array.isArray(value) && value.every((entry) => typeof entry === 'string');
    return this.#must(name, 'a list of strings', isList) as string[];
  }

  whole(name: string): number {
    return this.#must(name, 'a whole number', Number.isSafeInteger) as number;
  }

  date(name: string): Date {
    const date = new Date(this.text(name));
    if (Number.isNaN(date.getTime())) throw new Error(`${name} must be a date`);
    return date;
  }

  #must(name: string, kind: string, holds: (value: unknown) => boolean): unknown {
    const value = this.get(name);
    if (!holds(value)) throw new Error(`${name} must be ${kind}`);
    return value;
  }
}

/**
 * Calls `restore` for each kept record of a kind, oldest first.
 *
 * @throws ConfigurationError that names the record with the fault
 */
export function restoreAll(
  store: Store,
  kind: string,
  restore: (record: StoredRecord, id: string) => void,
): void {
  for (const [id, value] of store.read(kind)) {
    try {
      restore(new StoredRecord(value), id);
    } catch (error) {
      const problem = `has a wrong record, ${kind} ${quote(id)}: ${(error as Error).message}`;
      throw new ConfigurationError('state', `${problem}. ${REMEDY}`);
    }
  }
}
