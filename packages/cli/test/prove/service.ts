/** A service whose answers the test chooses per request. */
import type { ServerResponse } from 'node:http';
import { serve } from '../servers.js';
import { API_KEY } from '../paylink.js';

export interface Service {
  readonly env: Readonly<Record<string, string>>;
  /** The requested references, in their order. */
  readonly asked: string[];
}

/** @param answer the status of the payment, or `undefined` if the test answers itself or never */
export async function startService(
  answer: (
    reference: string,
    response: ServerResponse,
    count: number,
  ) => string | Promise<string | undefined> | undefined,
  amount: (reference: string) => number = () => 100,
): Promise<Service> {
  const asked: string[] = [];
  const origin = await serve((request, response) => {
    const reference = decodeURIComponent(request.url!.split('/').at(-1)!);
    asked.push(reference);
    void Promise.resolve(answer(reference, response, asked.length)).then((status) => {
      if (status === undefined) return;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          reference,
          type: 'payment',
          amount: amount(reference),
          currency: 'XOF',
          status,
        }),
      );
    });
  });
  return { env: { PAYLINK_BASE_URL: `${origin}/api`, PAYLINK_API_KEY: API_KEY }, asked };
}
