/**
 * A Stryker plugin that leaves messages for people unchanged. A message has a space between two
 * words, unlike codes, header names, kinds and one-word SQL. Plain JavaScript, because Stryker's
 * own processes load it.
 */
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';

const MESSAGE = /\p{L}[^\s]* +[^\s]*\p{L}/u;
/** SQL and Redis scripts are code, not messages. */
const STATEMENT =
  /^\s*(SELECT|INSERT|UPDATE|DELETE|MERGE|CREATE|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|SET|SHOW|LOCK|WITH|ALTER|local|redis)\b/;

/** Returns true for a text for people. */
export function isMessage(text) {
  return MESSAGE.test(text) && !STATEMENT.test(text);
}

class MessageIgnorer {
  shouldIgnore({ node }) {
    const text =
      node.type === 'StringLiteral'
        ? node.value
        : node.type === 'TemplateLiteral'
          ? node.quasis.map(({ value }) => value.raw).join('0')
          : '';
    return isMessage(text) ? 'the text of a message' : undefined;
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Ignore, 'messages', MessageIgnorer)];
