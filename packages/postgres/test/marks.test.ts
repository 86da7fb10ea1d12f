import { createHash } from 'node:crypto';
import { migrationSql } from '@paylink/postgres';
import { describe, expect, it } from 'vitest';
import { digestOf, MarkSql, readClaim, readRefusal, terminateTransaction, type MarkTable } from '../src/marks.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const digest = sha256('a key');

describe('the key of a mark', () => {
  it('is a SHA-256 as it is given, and of anything else its SHA-256', () => {
    expect(digestOf(digest)).toBe(digest);
    for (const key of [digest.toUpperCase(), digest.slice(1), `${digest}0`, ` ${digest}`, `${digest}\n`, 'order-42', "'; --"]) {
      expect(digestOf(key)).toBe(sha256(key));
    }
  });
});

describe('the number of a transaction', () => {
  it('is what the claim gave; no row is no claim, and no rows at all are an error', () => {
    expect(readClaim([{ transaction: '742' }])).toBe('742');
    expect(readClaim([])).toBeUndefined();
    expect(() => readClaim(undefined)).toThrow('`query` must give the rows');
    expect([readRefusal([{}]), readRefusal([])]).toEqual(['duplicate', 'in_progress']);
  });

  it('names the session to be ended by its lower 32 bits', () => {
    expect(terminateTransaction('742')).toContain("transactionid = '742'");
    expect(terminateTransaction(`${2n ** 32n + 3n}`)).toContain("transactionid = '3'");
  });

  it.each(['', '1; DROP TABLE orders', 'x1', '1x', '-1'])('is refused as %j before it is part of a statement', (transaction) => {
    expect(() => terminateTransaction(transaction)).toThrow('no number');
    expect(() => new MarkSql({}).run(digest, undefined, 0).stillIn(transaction)).toThrow('no number');
  });
});

describe('the table of the marks', () => {
  it.each<[MarkTable, string]>([
    [{}, '"paylink_marks"'],
    [{ table: 'a"b' }, '"a""b"'],
    [{ schema: 'shop', table: 'marks' }, '"shop"."marks"'],
    [{ table: 'x'.repeat(63) }, `"${'x'.repeat(63)}"`],
    [{ table: `x${'é'.repeat(31)}` }, `"x${'é'.repeat(31)}"`],
  ])('of %o is quoted: %s', (table, quoted) => {
    expect(migrationSql(table)).toContain(`CREATE TABLE IF NOT EXISTS ${quoted} (`);
  });

  it.each<[string, object]>([
    ['table', { table: '' }],
    ['table', { table: 'a\0b' }],
    ['table', { table: 'x'.repeat(64) }],
    ['table', { table: 'é'.repeat(32) }],
    ['table', { table: 7 }],
    ['schema', { schema: '' }],
  ])('has a %s that PostgreSQL can hold as a whole', (option, table) => {
    expect(() => migrationSql(table)).toThrow(expect.objectContaining({ option }) as Error);
  });

  it('has a schema made for it where it names one, in statements that end', () => {
    expect(migrationSql({ schema: 'shop' })).toMatch(/^CREATE SCHEMA IF NOT EXISTS "shop";\nCREATE TABLE [^;]*;\n$/);
    expect(migrationSql()).toMatch(/^CREATE TABLE [^;]*;\n$/);
  });
});

describe('the locks of a run', () => {
  const locksOf = (table: MarkTable, key: string, turn?: string): string[] =>
    [
      ...new MarkSql(table)
        .run(key, turn, 0)
        .claim()
        .matchAll(/pg_try_advisory_xact_lock\((-?\d+)\)/g),
    ].map(([, lock]) => lock!);

  it('are one of its key and one of its turn, of their tables, and never the same for both', () => {
    const [own, ...none] = locksOf({}, digest);
    expect(none).toEqual([]);
    const [key, turn] = locksOf({}, digest, digest);
    expect(key).toBe(own);
    expect(turn).not.toBe(key);
    const locks = [own, turn, ...locksOf({}, sha256('another'), sha256('turn')), ...locksOf({ table: 'other' }, digest, digest)];
    expect(new Set(locks).size).toBe(6);
    for (const lock of locks) expect(BigInt.asIntN(64, BigInt(lock!))).toBe(BigInt(lock!));
  });
});
