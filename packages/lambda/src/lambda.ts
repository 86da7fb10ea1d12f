type Headers<Value> = Readonly<Record<string, Value | undefined>> | null | undefined;

/**
 * An HTTP event from API Gateway, a function URL or a load balancer. Accepts the types from
 * `@types/aws-lambda`.
 */
export interface LambdaEvent {
  readonly httpMethod?: string | undefined;
  /** The path in API Gateway's payload format 1.0 and in load balancer events. */
  readonly path?: string | undefined;
  /** The path in API Gateway's payload format 2.0 and in function URL events. */
  readonly rawPath?: string | undefined;
  readonly requestContext?:
    | {
        readonly http?: { readonly method: string };
        readonly elb?: object;
        readonly stage?: string;
      }
    | undefined;
  readonly headers?: Headers<string>;
  readonly multiValueHeaders?: Headers<readonly string[]>;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

export type LambdaContext = {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
};

/** A handler's context on Lambda. */
export interface LambdaHost {
  readonly event: LambdaEvent;
  readonly context: LambdaContext | undefined;
}

export type LambdaResult = {
  statusCode: number;
  headers?: Record<string, string>;
  /** Used instead of `headers` if the load balancer sent multi-value headers. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: boolean;
};
