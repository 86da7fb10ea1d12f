/** The part of Standard Schema (standardschema.dev, version 1) that is needed: zod, valibot, arktype and others have it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly path?: readonly unknown[] | undefined }[] };

/** More event kinds, each with the schema of its payload. */
export type EventSchemas = Readonly<Record<string, StandardSchema>>;

/** More event kinds, each with its payload, or with the schema of it: of schemas that are given, the payloads are inferred. */
export type EventTypes = Readonly<Record<string, unknown>>;

/**
 * The schemas of these kinds; of a kind with a payload, any schema that gives it. An adapter that takes these infers what a
 * payload holds, and so an editor shows that where it would show each schema, with all of its library's types.
 */
export type SchemasOf<Events extends EventTypes> = {
  // `NoInfer`, or the schema would be inferred beside its payload.
  readonly [Kind in keyof Events]: Events[Kind] extends StandardSchema ? NoInfer<Events[Kind]> : StandardSchema<Events[Kind]>;
};

/** What a schema makes of a payload. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** The `{}` of kinds that are configured on a condition: `flag ? { 'payment.refunded': schema } : {}`. */
export type NoKinds = Readonly<Record<string, never>>;

/** No kinds but `payment.succeeded`. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- its keys join the configured kinds, so it must have none
export type NoEvents = Record<never, never>;
