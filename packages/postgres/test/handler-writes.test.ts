import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { readAnswers, Warnings, WrittenRows } from '../src/handler-writes.js';

/** Statements of a handler: the text, the command of the server's answer, and its rows. */
type Statement = readonly [text: unknown, command: string | undefined, rows: number];

function rowsOf(...statements: readonly Statement[]): WrittenRows {
  const rows = new WrittenRows();
  for (const [text, command, count] of statements) {
    rows.sent(text);
    rows.answered(command, count);
  }
  return rows;
}

function thrownBy(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

const update: Statement = ['UPDATE orders SET paid = true WHERE reference = $1', 'UPDATE', 0];

describe('a handler', () => {
  it.each<[string, readonly Statement[]]>([
    ['that changed no row', [update]],
    ['that deleted none', [['DELETE FROM carts', 'DELETE', 0]]],
    ['that merged none', [['MERGE INTO orders …', 'MERGE', 0]]],
    ['that found none, and then changed none', [['SELECT 1 WHERE false', 'SELECT', 0], update]],
    ['whose INSERT … SELECT gave no row', [['INSERT INTO log SELECT 1 WHERE false', 'INSERT', 0], update]],
    [
      'that did nothing but what never counts',
      [
        ...['SET', 'RESET', 'SHOW', 'LOCK', 'SAVEPOINT', 'RELEASE', 'ROLLBACK', 'DECLARE', 'FETCH', 'MOVE', 'CLOSE'],
        ...['PREPARE', 'DEALLOCATE', 'LISTEN', 'UNLISTEN', 'NOTIFY'],
      ]
        .map((command): Statement => [`${command} x`, command, 0])
        .concat([update]),
    ],
    ['that mentions a conflict, and inserts nothing', [["SELECT 'on conflict' WHERE false", 'SELECT', 0], update]],
    ['that mentions an update within other text', [["SELECT 'an update (see insertions)' WHERE false", 'SELECT', 0], update]],
  ])('wrote nothing: one %s', (_, statements) => {
    expect(rowsOf(...statements).nothing).toBe(true);
  });

  it.each<[string, readonly Statement[]]>([
    ['that changed nothing because it only read', [['SELECT 1 WHERE false', 'SELECT', 0]]],
    ['that used no statement', []],
    ['that changed a row', [['UPDATE orders …', 'UPDATE', 1]]],
    ['that changed one row of two statements', [update, ['INSERT INTO log …', 'INSERT', 1]]],
    ['whose statement returned a row', [update, ['SELECT 1', 'SELECT', 1]]],
    ['that called a procedure', [['CALL pay()', 'CALL', 0], update]],
    ['that ran a block', [['DO $$…$$', 'DO', 0], update]],
    ['whose driver tells no command', [['UPDATE …', undefined, 0], update]],
    ['whose statement has no text', [[{}, 'SELECT', 0], update]],
    ['that wrote within a WITH query', [['WITH x AS (UPDATE orders SET paid = true) SELECT 1 WHERE false', 'SELECT', 0], update]],
    ['that wrote within one, in other letters', [['WITH x AS ( \n insert INTO log …) UPDATE orders …', 'UPDATE', 0]]],
    [
      'whose INSERT found its row, since the order was credited before',
      [['INSERT INTO credits … ON CONFLICT DO NOTHING', 'INSERT', 0], update],
    ],
    [
      'whose INSERT found its row, in other letters',
      [['insert into credits … on  conflict (reference) do nothing', 'INSERT', 0], update],
    ],
  ])('is left alone: one %s', (_, statements) => {
    expect(rowsOf(...statements).nothing).toBe(false);
  });

  it('is known to have used `tx`, or not to', () => {
    expect([rowsOf().used, rowsOf(update).used]).toEqual([false, true]);
  });

  it.each<[string, number, boolean, boolean, readonly Statement[]]>([
    ['one statement and the mark', 2, false, false, [update]],
    ['more statements than were answered: a trigger wrote', 3, false, true, [update]],
    ['an INSERT without a row too', 3, false, false, [update, ['INSERT …', 'INSERT', 0]]],
    ['a rule that rewrote one', 2, true, true, [update]],
    ['a row that is locked', 3, false, false, [['SELECT 1 FROM orders FOR UPDATE', 'SELECT', 0], update]],
    ['a row that is locked for less', 3, false, false, [['SELECT 1 FROM orders for  no  key  update', 'SELECT', 0], update]],
    ['a row that is shared', 3, false, false, [['SELECT 1 FROM orders FOR SHARE', 'SELECT', 0], update]],
    ['a key that is shared', 3, false, false, [['SELECT 1 FROM orders FOR KEY SHARE', 'SELECT', 0], update]],
    [
      'a key that is shared, in another spelling',
      3,
      false,
      false,
      [['SELECT 1 FROM orders for\tkey\n share', 'SELECT', 0], update],
    ],
    ['a text that only looks like a lock', 3, false, true, [["SELECT 'for updates' WHERE false", 'SELECT', 0], update]],
  ])('hides what it wrote where the server counts more: %s', (_, commands, ruled, hides, statements) => {
    expect(rowsOf(...statements).hides({ commands, ruled })).toBe(hides);
  });

  it.each<[string, (rows: WrittenRows) => unknown, boolean]>([
    ['after the answer to each statement', (rows) => rows.answered('UPDATE', 1), true],
    ['not while an answer is awaited', (rows) => (rows.pending += 1), false],
    ['not after BEGIN', (rows) => rows.answered('BEGIN', 0), false],
    ['not after START', (rows) => rows.answered('START', 0), false],
    ['not after COMMIT', (rows) => rows.answered('COMMIT', 0), false],
    ['not after ROLLBACK, which may be one to a savepoint', (rows) => rows.answered('ROLLBACK', 0), false],
    ['not after PREPARE', (rows) => rows.answered('PREPARE', 0), false],
  ])('stays in its transaction: %s', (_, change, stays) => {
    const rows = new WrittenRows();
    rows.pending = 1;
    rows.ready('T');
    change(rows);
    expect(rows.staysInTransaction).toBe(stays);
  });

  it.each(['E', 'I', undefined])('is not known to be in its transaction in the status %s', (status) => {
    const rows = new WrittenRows();
    rows.pending = 1;
    rows.ready(status);
    expect(rows.staysInTransaction).toBe(false);
  });
});

describe('the answers on a connection', () => {
  it('are read for one handler after the other, and for none in between', () => {
    const connection = new EventEmitter();
    const first = new WrittenRows();
    const answered = vi.spyOn(first, 'answered');
    const stop = readAnswers({ connection }, first);
    connection.emit('commandComplete', { text: 'UPDATE 12' });
    connection.emit('commandComplete', { text: 'INSERT 0 3' });
    connection.emit('commandComplete', { text: 'CREATE TABLE' });
    connection.emit('portalSuspended');
    first.pending = 2;
    connection.emit('readyForQuery', { status: 'T' });
    connection.emit('readyForQuery', undefined);
    expect(answered.mock.calls).toEqual([
      ['UPDATE', 12],
      ['INSERT', 3],
      ['CREATE', 0],
      ['FETCH', 1],
    ]);
    expect(first.pending).toBe(0);
    stop();
    connection.emit('commandComplete', { text: 'UPDATE 1' });
    connection.emit('portalSuspended');
    connection.emit('readyForQuery', { status: 'T' });
    expect([answered.mock.calls.length, first.pending]).toEqual([4, 0]);
    const second = new WrittenRows();
    readAnswers({ connection }, second);
    connection.emit('commandComplete', { text: 'UPDATE 0' });
    expect([second.nothing, connection.listenerCount('commandComplete')]).toEqual([true, 1]);
  });

  it('of a client that shows none are not read', () => {
    for (const client of [{}, { connection: null }, { connection: {} }]) readAnswers(client, new WrittenRows())();
  });
});

describe('the warnings about handlers', () => {
  const nothing = () => rowsOf(update);
  const probe = (commands: number) => ({ commands, ruled: false });

  it('refuse where nothing was written, unless only a warning is asked for', () => {
    const logger = { warn: vi.fn() };
    const refused = thrownBy(() => new Warnings(logger, 'refuse').nothingWritten(nothing(), probe(2)));
    expect(refused).toMatchObject({ code: 'nothing_written', status: 503 });
    expect(logger.warn).not.toHaveBeenCalled();
    new Warnings(logger, 'warn').nothingWritten(nothing(), probe(2));
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^\[paylink\] the handler ran UPDATE/));
  });

  it('let pass what the server counts more of', () => {
    const logger = { warn: vi.fn() };
    for (const mode of ['refuse', 'warn'] as const) new Warnings(logger, mode).nothingWritten(nothing(), probe(3));
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('say once for each store that `tx` was not used, and by which cause', () => {
    for (const [starved, text] of [
      [true, /handlers wait for connections.*; and so on$/],
      [false, /a handler ended without using `tx`.*; and so on$/],
    ] as const) {
      const logger = { warn: vi.fn() };
      const warnings = new Warnings(logger, 'refuse');
      warnings.unused(starved, '; and so on');
      warnings.unused(starved);
      expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(text));
    }
    const logger = { warn: vi.fn() };
    new Warnings(logger, 'refuse').unused(false);
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/Write through `tx`$/));
  });
});
