import { route, type RouteConfig } from '@react-router/dev/routes';

export default [route('webhooks/payments', 'routes/webhooks.payments.ts')] satisfies RouteConfig;
