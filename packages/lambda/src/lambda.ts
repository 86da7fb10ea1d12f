/** A request as API Gateway, a function URL or a load balancer gives it. The types of `@types/aws-lambda` fit into these. */
export interface LambdaEvent {
  readonly httpMethod?: string | undefined;
  /** The request's path: of API Gateway's first format and of load balancers `path`, of the second format `rawPath`. */
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
  /** In place of `headers`, to a load balancer that sent its own in this form: it would ignore the other one. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: boolean;
}
