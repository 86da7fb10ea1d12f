/**
 * A plugin of Stryker: leaves the texts that people read as they are. A text is a message where a
 * space stands between two words; codes, header names, kinds and SQL of one word have none. Plain
 * JavaScript, since Stryker's own processes load it.
 */
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';

const MESSAGE = /\p{L}[^\s]* +[^\s]*\p{L}/u;
/** SQL and Redis scripts are no messages, but what is done. */
const STATEMENT =
  /^\s*(SELECT|INSERT|UPDATE|DELETE|MERGE|CREATE|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|SET|SHOW|LOCK|WITH|ALTER|local|redis)\b/;

/** Whether the text is one for people. */
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
