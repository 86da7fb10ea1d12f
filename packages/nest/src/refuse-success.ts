import type { NestInterceptor } from '@nestjs/common';
import { catchError, throwError } from 'rxjs';

/** Nest's filter answers with the status that an error carries: 200 of an HTTP client's error would acknowledge a failed credit. */
export const refuseSuccess: NestInterceptor = {
  intercept: (_context, next) => next.handle().pipe(catchError((error: unknown) => throwError(() => withoutSuccess(error)))),
};

function withoutSuccess(error: unknown): unknown {
  return statusesOf(error).every(isFailure) ? error : new Error('the controller behind PaymentWebhook failed', { cause: error });
}

/** What Nest reads: `getStatus` of its own exceptions, and `statusCode` of any other error. */
function statusesOf(error: unknown): unknown[] {
  const { getStatus, statusCode } = (error ?? {}) as { readonly getStatus?: () => unknown; readonly statusCode?: unknown };
  return [typeof getStatus === 'function' ? getStatus.call(error) : undefined, statusCode].filter((status) => status !== undefined);
}

function isFailure(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) < 600;
}
