/** The part of Standard Schema 1 (standardschema.dev) that Paylink uses. */
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

/** More event kinds, each with a schema for its payload. */
export type EventSchemas = Readonly<Record<string, StandardSchema>>;

/** More event kinds, each with its payload type or a schema. */
export type EventTypes = Readonly<Record<string, unknown>>;

/**
 * The schemas for these kinds. A kind with a payload type accepts any schema with that output, so
 * editors show payload types instead of a schema library's types.
 */
export type SchemasOf<Events extends EventTypes> = {
  // Without `NoInfer`, TypeScript would infer the schema beside its payload.
  readonly [Kind in keyof Events]: Events[Kind] extends StandardSchema
    ? NoInfer<Events[Kind]>
    : StandardSchema<Events[Kind]>;
};

export type SchemaOutput<Schema extends StandardSchema> = NonNullable<
  Schema['~standard']['types']
>['output'];

/** The `{}` of optional kinds: `flag ? { 'payment.refunded': schema } : {}`. */
export type NoKinds = Readonly<Record<string, never>>;

/** Only `payment.succeeded`. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- its keys join the configured kinds, so it must have none
export type NoEvents = Record<never, never>;
