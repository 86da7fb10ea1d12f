/** The secret of every contestant. A separate file, because a Worker's bundle includes it. */
export const SECRET = 'whsec_2f8c1b7e0a9d4c63b5e1f0a7d8c9b6e4';
export const URL_PATH = '/webhooks/payments';
