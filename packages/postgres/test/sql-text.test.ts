import { describe, expect, it } from 'vitest';
import { controlOf, textOf } from '../src/sql-text.js';

describe('what a SQL text does to its transaction', () => {
  it.each([
    'BEGIN',
    'begin;',
    'Begin Isolation Level Serializable',
    'START TRANSACTION READ ONLY',
    'start  transaction',
    '-- COMMIT\nBEGIN',
    '/* COMMIT /* nested */ ; COMMIT */ BEGIN',
    'COMMIT; BEGIN',
    'ROLLBACK; SELECT 1; START TRANSACTION; SELECT 1',
  ])('is to begin one: %s', (text) => {
    expect(controlOf(text)).toBe('begins');
  });

  it.each([
    'COMMIT',
    'commit work',
    'COMMIT AND CHAIN',
    'END',
    'ABORT',
    'ROLLBACK',
    'rollback work',
    'ROLLBACK TRANSACTION',
    'ROLLBACK AND CHAIN',
    'ROLLBACK/* to */',
    "PREPARE TRANSACTION 'one'",
    "COMMIT PREPARED 'one'",
    '  ;;COMMIT',
    'BEGIN; COMMIT',
    'SELECT 1; COMMIT; SELECT 2',
    "SELECT ';'; COMMIT",
    "SELECT 'it''s'; COMMIT",
    String.raw`SELECT E'\''; COMMIT; SELECT '`,
    String.raw`SELECT e'a''b\\'; COMMIT`,
    String.raw`SELECT '\'; COMMIT; SELECT '`,
    'SELECT "a""b;"; COMMIT',
    'SELECT $$;$$; COMMIT',
    'SELECT $tag$ $$ ; $tag$; COMMIT',
    'SELECT $a1$ ; $a1$; COMMIT',
    'SELECT $_$ ; $_$; COMMIT',
    'SELECT $1; COMMIT',
    'SELECT $1$; COMMIT; SELECT $1$',
    'SELECT a$$; COMMIT; SELECT b$$',
    'SELECT é$$; COMMIT; SELECT é$$',
    'SELECT a$b$; COMMIT; SELECT a$b$',
    'SELECT 1 -- a comment\n; COMMIT',
    'SELECT 1 - 2; COMMIT',
    'SELECT 1 / 2; COMMIT',
    'SELECT 1 /* a /* b */ c */; COMMIT',
    'SELECT 1 /**/; COMMIT',
    'COMMIT -- and no more',
    'COMMIT/* unclosed',
    "SELECT 1; COMMIT; SELECT '",
  ])('is to end it: %s', (text) => {
    expect(controlOf(text)).toBe('ends');
  });

  it.each([
    'SELECT 1',
    'SAVEPOINT one',
    'SAVEPOINT begin',
    'ROLLBACK TO one',
    'ROLLBACK TO SAVEPOINT one',
    'rollback  work to one',
    'ROLLBACK TRANSACTION TO SAVEPOINT one',
    'ROLLBACK /* a */ TO one',
    'RELEASE SAVEPOINT one',
    'PREPARE statement AS SELECT 1',
    'START',
    'SELECT commit FROM log',
    'UPDATE t SET "end" = 1',
    'INSERT INTO t VALUES (1) -- ; COMMIT',
    "SELECT '; COMMIT'",
    "SELECT 'it''s; COMMIT'",
    "SELECT '; COMMIT",
    String.raw`SELECT E'\'; COMMIT'`,
    String.raw`SELECT e'\\\'; COMMIT'`,
    String.raw`SELECT E'''; COMMIT'`,
    String.raw`SELECT E'\'; COMMIT`,
    'SELECT "; COMMIT"',
    'SELECT "a""; COMMIT"',
    'SELECT "; COMMIT',
    'SELECT $$; COMMIT $$',
    'SELECT $$; COMMIT',
    'SELECT $tag$; COMMIT; $$ $other$ $tag$',
    'SELECT $a1$; COMMIT $a1$',
    'SELECT $_$; COMMIT $_$',
    '/* ; COMMIT */ SELECT 1',
    '/* /* */ ; COMMIT */ SELECT 1',
    '/* ; COMMIT',
    '/* /* */ ; COMMIT',
    'COMMENT ON TABLE t IS NULL; commits',
    'beginning; recommit',
  ])('is neither: %s', (text) => {
    expect(controlOf(text)).toBeUndefined();
  });
});

describe('the text of what drivers take', () => {
  it.each<[string, unknown, string | undefined]>([
    ['a text', 'COMMIT', 'COMMIT'],
    ['a config', { text: 'COMMIT', values: [] }, 'COMMIT'],
    ['a cursor', { cursor: { text: 'COMMIT' } }, 'COMMIT'],
    ['a tagged template, whose values part its words', ['COM', 'MIT ', ''], 'COM$MIT $'],
    ['a config without one', {}, undefined],
    ['a config with another kind of text', { text: 7 }, undefined],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
  ])('is found in %s', (_, query, text) => {
    expect(textOf(query)).toBe(text);
    expect(controlOf(query)).toBe(text === 'COMMIT' ? 'ends' : undefined);
  });
});
