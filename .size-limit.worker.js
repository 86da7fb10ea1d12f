/**
 * What a Worker ships that receives webhooks by @paylink/fetch. `#diagnose` is loaded only outside
 * production.
 */
export default [
  {
    name: '@paylink/fetch in a Worker',
    path: 'packages/fetch/dist/index.js',
    import: '{ paymentWebhook }',
    ignore: ['#diagnose'],
    gzip: true,
    limit: '12 kB',
    modifyEsbuildConfig: (config) => ({ ...config, conditions: ['workerd', 'worker', 'import'] }),
  },
];
