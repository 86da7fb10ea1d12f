/**
 * An HTTP event of API Gateway, a function URL or a load balancer. Accepts the types of
 * `@types/aws-lambda`.
 */
export interface LambdaEvent {
  readonly httpMethod?: string | undefined;
  /**
   * The request's path. API Gateway's first format and load balancers have `path`, the second
   * format has `rawPath`.
   */
  readonly path?: string | undefined;
  readonly rawPath?: string | undefined;
  readonly requestContext?:
    | {
        readonly http?: { readonly method: string };
        readonly elb?: object;
        readonly stage?: string;
      }
    | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  readonly multiValueHeaders?:
    Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

export interface LambdaContext {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/** The context of a handler on Lambda. */
export interface LambdaHost {
  readonly event: LambdaEvent;
  readonly context: LambdaContext | undefined;
}

export interface LambdaResult {
  statusCode: number;
  headers?: Record<string, string>;
  /** Replaces `headers` for a load balancer that sent header lists and would ignore `headers`. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: boolean;
}
