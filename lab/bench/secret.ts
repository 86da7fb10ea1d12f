/** What every contestant is set up with; apart, since a Worker's bundle has it too. */
export const SECRET = 'whsec_2f8c1b7e0a9d4c63b5e1f0a7d8c9b6e4';
export const URL_PATH = '/webhooks/payments';
