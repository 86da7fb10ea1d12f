/** From proven bytes and the event header to an event: kind, payload, contradiction, schema. */
import { withinBounds } from './deadline.js';
import { fault } from './errors.js';
import { contradictionOf, parsePayload, readEvents, readKind, validate } from './event.js';
import type { Contradiction, KnownEvent, WebhookEvent, WebhookPayload } from './event.js';
import type { EventSchemas, StandardSchema } from './schema.js';

/** Makes events of bytes whose sender is known. It proves nothing itself. */
export interface EventReader<Events extends EventSchemas> {
  readonly kinds: ReadonlyMap<string, StandardSchema | undefined>;
  /**
   * Gives the event at once where no schema has to be waited for.
   *
   * @param overruled told of a signed status that contradicts the header, where something better decides; without it, that
   * is an error
   */
  read(
    rawBody: Uint8Array,
    secretIndex: number,
    kindHeader: unknown,
    overruled?: (contradiction: Contradiction) => void,
  ): WebhookEvent<Events> | Promise<WebhookEvent<Events>>;
}

// Room for a schema that asks a database; one that hangs must not hold the request.
const SCHEMA_TIMEOUT = 5_000;

export function createEventReader<Events extends EventSchemas>(events: Events | undefined): EventReader<Events> {
  const kinds = readEvents(events);

  async function withOutput(schema: StandardSchema, event: KnownEvent<string, unknown>): Promise<WebhookEvent<Events>> {
    const reason = (): unknown => fault('handler_timeout', `the schema of ${event.type} did not settle in ${SCHEMA_TIMEOUT} ms`);
    const payload = await withinBounds(validate(schema, event.payload as WebhookPayload), { milliseconds: SCHEMA_TIMEOUT, reason });
    return { ...event, payload } as WebhookEvent<Events>;
  }

  return {
    kinds,
    read(rawBody, secretIndex, kindHeader, overruled) {
      // A configured kind is one: the expression is for the others.
      const kind = kinds.has(kindHeader as string) ? (kindHeader as string) : readKind(kindHeader);
      const body = parsePayload(rawBody);
      const contradiction = contradictionOf(kind, body);
      if (contradiction !== undefined) {
        if (overruled === undefined)
          throw fault(contradiction, 'the header says success, the `status` of the signed body does not');
        overruled(contradiction);
      }
      const { reference } = body;
      if (!kinds.has(kind)) return { type: 'unrecognized', kind, reference, payload: body, rawBody, secretIndex };

      // The map of schemas gives each kind its payload; what it says at run time, the types say at compile time.
      const event = { type: kind, reference, payload: body as unknown, rawBody, secretIndex };
      const schema = kinds.get(kind);
      return schema === undefined ? (event as WebhookEvent<Events>) : withOutput(schema, event);
    },
  };
}
