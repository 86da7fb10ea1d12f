/**
 * Reads the recipes of examples/databases, which the build copies beside this program: in
 * TypeScript, and in JavaScript.
 */
import { existsSync, readFileSync } from 'node:fs';

const FOLDER = new URL('./recipes/', import.meta.url);

export function hasRecipe(name: string): boolean {
  return existsSync(new URL(`${name}.ts`, FOLDER));
}

export function readRecipe(name: string, isTypeScript: boolean): string {
  return readFileSync(new URL(`${name}.${isTypeScript ? 'ts' : 'js'}`, FOLDER), 'utf8');
}

/** Returns the statement that creates the table `orders`. */
export function readTable(dialect: string): string {
  return readFileSync(new URL(`tables/${dialect}.sql`, FOLDER), 'utf8').trim();
}
