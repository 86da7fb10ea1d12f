/** Opens the inbox through the merchant's own store. */
import type { Command } from 'commander';
import type { Inbox, KeptDelivery } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { connectDatabase, findDatabase } from '../database.js';
import { usageFailure } from '../failure.js';
import type { Output } from '../output.js';
import { DATABASE_VARIABLE } from '../settings.js';

export interface InboxFlags {
  readonly databaseUrl?: string;
  readonly marksTable?: string;
}

export const DATABASE_ENVIRONMENT = [DATABASE_VARIABLE, 'the PostgreSQL of your store'] as const;

export function addInboxOptions(command: Command): Command {
  return command
    .option(
      '--database-url <url>',
      'the PostgreSQL of your store. The environment keeps its password out of the shell history',
    )
    .option('--marks-table <table>', 'the table of postgresStore (default: paylink_marks)');
}

const MISSING_TABLE = '42P01';

/** Opens the inbox while `work` runs. @throws Failure if the database has no inbox */
export async function withInbox<T>(
  { databaseUrl, marksTable }: InboxFlags,
  output: Output,
  work: (inbox: Inbox) => Promise<T>,
): Promise<T> {
  const address = findDatabase(databaseUrl, output);
  if (address === undefined) {
    throw usageFailure(
      'your PostgreSQL address is missing',
      `set ${DATABASE_VARIABLE}, or give --dotenv or --database-url`,
    );
  }
  const client = await connectDatabase(address, 'paylink inbox');
  try {
    const database = {
      transaction: (run: (tx: object) => Promise<void>) => run(client),
      query: async (_: unknown, sql: string) => (await client.query<object>(sql)).rows,
    };
    return await work(postgresStore(database, { inbox: true, ...tableOf(marksTable) }).inbox!);
  } catch (error) {
    const { code } = Object((error as Error).cause) as { readonly code?: unknown };
    if (code !== MISSING_TABLE) throw error;
    throw usageFailure(
      'the database has no inbox',
      'postgresStore(pool, { inbox: true }) keeps failed deliveries, and migrate() makes its table',
      'give --marks-table if your marks table is not paylink_marks',
    );
  } finally {
    await client.end();
  }
}

function tableOf(name: string | undefined): { readonly schema?: string; readonly table?: string } {
  if (name === undefined) return {};
  const dot = name.indexOf('.');
  return dot === -1 ? { table: name } : { schema: name.slice(0, dot), table: name.slice(dot + 1) };
}

const PAGE = 1_000;

/** Yields every listed delivery, oldest first. */
export async function* listedIn(inbox: Inbox): AsyncGenerator<KeptDelivery, void, undefined> {
  let page = await inbox.list({ limit: PAGE });
  while (page.length > 0) {
    yield* page;
    page = await inbox.list({ limit: PAGE, after: page.at(-1) });
  }
}
