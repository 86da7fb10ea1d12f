/** Makes events as AWS documents them, one maker for each way to reach a function over HTTP. */
import type { ALBEvent, APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

export interface Request {
  readonly method?: string;
  /** Pairs, so that a header can be there twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** What API Gateway does to a body of a binary media type, and a function URL to all but text. */
  readonly base64?: boolean;
}

type Shape =
  | 'API Gateway REST'
  | 'API Gateway HTTP'
  | 'function URL'
  | 'ALB'
  | 'ALB with multi-value headers';

const IP = '203.0.113.7';
const PATH = '/webhooks/payments';

function bodyOf({ body, base64 = false }: Request) {
  return { body: body?.toString(base64 ? 'base64' : 'utf8') ?? null, isBase64Encoded: base64 };
}

/** The last one wins, as with API Gateway REST and a load balancer. */
function last({ headers }: Request): Record<string, string> {
  return Object.fromEntries(headers);
}

function lists({ headers }: Request): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [name, value] of headers) (all[name] ??= []).push(value);
  return all;
}

function rest(request: Request): APIGatewayProxyEvent {
  const method = request.method ?? 'POST';
  return {
    resource: PATH,
    path: PATH,
    httpMethod: method,
    headers: last(request),
    multiValueHeaders: lists(request),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      authorizer: null,
      protocol: 'HTTP/1.1',
      httpMethod: method,
      // API Gateway also sends fields that are null.
      identity: { sourceIp: IP } as APIGatewayProxyEvent['requestContext']['identity'],
      path: `/prod${PATH}`,
      stage: 'prod',
      requestId: '3d7e1f5c-0a55-4f4c-9a86-cf01d0b2b5a5',
      requestTimeEpoch: 1_760_000_000_000,
      resourceId: 'abc123',
      resourcePath: PATH,
    },
    ...bodyOf(request),
  };
}

function http(domainName: string) {
  return (request: Request): APIGatewayProxyEventV2 => {
    const { body, isBase64Encoded } = bodyOf(request);
    const headers = request.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    const joined = Object.entries(lists({ headers })).map(
      ([name, values]) => [name, values.join(',')] as const,
    );
    return {
      version: '2.0',
      routeKey: '$default',
      rawPath: PATH,
      rawQueryString: '',
      headers: Object.fromEntries(joined),
      requestContext: {
        accountId: 'anonymous',
        apiId: 'a1b2c3d4e5',
        domainName,
        domainPrefix: 'a1b2c3d4e5',
        http: {
          method: request.method ?? 'POST',
          path: PATH,
          protocol: 'HTTP/1.1',
          sourceIp: IP,
          userAgent: 'paylink',
        },
        requestId: 'JKJaXmPLvHcESHA=',
        routeKey: '$default',
        stage: '$default',
        time: '09/Oct/2025:08:53:20 +0000',
        timeEpoch: 1_760_000_000_000,
      },
      // Left out where there is none.
      ...(body === null ? {} : { body }),
      isBase64Encoded,
    };
  };
}

function alb(headersOf: (request: Request) => Pick<ALBEvent, 'headers' | 'multiValueHeaders'>) {
  return (request: Request): ALBEvent => {
    const { body, isBase64Encoded } = bodyOf(request);
    return {
      requestContext: {
        elb: {
          targetGroupArn:
            'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/webhooks/73e2d6bc24d8a067',
        },
      },
      httpMethod: request.method ?? 'POST',
      path: PATH,
      queryStringParameters: {},
      ...headersOf(request),
      // A load balancer gives an empty text where there is none.
      body: body ?? '',
      isBase64Encoded,
    };
  };
}

export const SHAPES: Readonly<
  Record<Shape, (request: Request) => APIGatewayProxyEvent | APIGatewayProxyEventV2 | ALBEvent>
> = {
  'API Gateway REST': rest,
  'API Gateway HTTP': http('a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com'),
  'function URL': http('a1b2c3d4e5.lambda-url.eu-central-1.on.aws'),
  ALB: alb((request) => ({ headers: last(request) })),
  'ALB with multi-value headers': alb((request) => ({ multiValueHeaders: lists(request) })),
};
