/** From proven bytes and the event header to an event: kind, payload, contradiction, schema. */
import { withinBounds } from './deadline.js';
import { fault } from './errors.js';
import { contradictionOf, parsePayload, readEvents, readKind, validate } from './event.js';
import type { Contradiction, KnownEvent, WebhookEvent, WebhookPayload } from './event.js';
import type { EventSchemas, NoKinds, StandardSchema } from './schema.js';

/** What a signed `status` that contradicts the header leads to: `note` where `confirm` decides. */
export type OnContradiction = 'refuse' | 'note';

export interface ReadEvent<Events extends EventSchemas> {
  readonly event: WebhookEvent<Events>;
  /** What the signed body says of the payment against the header, where that is only noted. */
  readonly contradiction: Contradiction | undefined;
}

/** Makes events of bytes whose sender is known. It proves nothing itself. */
export interface EventReader<Events extends EventSchemas> {
  readonly kinds: ReadonlyMap<string, StandardSchema | undefined>;
  /** Gives the event at once where no schema has to be waited for. */
  read(rawBody: Uint8Array, secretIndex: number, kindHeader: unknown): ReadEvent<Events> | Promise<ReadEvent<Events>>;
}

// Room for a schema that asks a database; one that hangs must not hold the request.
const SCHEMA_TIMEOUT = 5_000;

export function createEventReader<Events extends EventSchemas>(
  events: Events | NoKinds | undefined,
  onContradiction: OnContradiction,
): EventReader<Events> {
  const kinds = readEvents(events);

  async function outputOf(schema: StandardSchema, type: string, body: WebhookPayload): Promise<unknown> {
    const reason = (): unknown => fault('handler_timeout', `the schema of ${type} did not settle in ${SCHEMA_TIMEOUT} ms`);
    return withinBounds(validate(schema, body), { milliseconds: SCHEMA_TIMEOUT, reason });
  }

  return {
    kinds,
    read(rawBody, secretIndex, kindHeader) {
      // A configured kind is a kind: only the others are held against the expression.
      const isConfigured = kinds.has(kindHeader as string);
      const kind = isConfigured ? (kindHeader as string) : readKind(kindHeader);
      const body = parsePayload(rawBody);
      const contradiction = contradictionOf(kind, body);
      if (contradiction !== undefined && onContradiction === 'refuse') {
        throw fault(contradiction, 'the header says success, the `status` of the signed body does not');
      }
      const { reference } = body;
      if (!isConfigured) {
        return { event: { type: 'unrecognized', kind, reference, payload: body, rawBody, secretIndex }, contradiction };
      }
      const event: KnownEvent<string, unknown> = { type: kind, reference, payload: body, rawBody, secretIndex };
      const schema = kinds.get(kind);
      // The map of schemas gives each kind its payload; what it says at run time, the types say at compile time.
      if (schema === undefined) return { event: event as WebhookEvent<Events>, contradiction };
      return outputOf(schema, kind, body).then((payload) => ({
        event: { ...event, payload } as WebhookEvent<Events>,
        contradiction,
      }));
    },
  };
}
