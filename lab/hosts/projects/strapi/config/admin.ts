export default {
  serveAdminPanel: false,
  auth: { secret: 'not-a-secret-of-a-shop' },
  apiToken: { salt: 'not-a-secret-of-a-shop' },
  transfer: { token: { salt: 'not-a-secret-of-a-shop' } },
};
