import { diagnose } from '@paylink/core/diagnose';

declare const rawBody: Uint8Array;
declare const signature: string;
const secret = 'the-secret-of-your-portal';

// #region diagnose
const { cause, message } = await diagnose({ rawBody, signature, secret });
console.log(cause, message);
// #endregion
