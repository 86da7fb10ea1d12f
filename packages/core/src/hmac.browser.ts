/** A browser must never load this package, because anyone could read the webhook secret there. */
export * from './hmac.web.js'; // bundlers link these names, although the next line throws

throw new Error(
  '@paylink/core was loaded in a browser. The webhook secret belongs on a server: ' +
    'import this package from server code only. In a test under jsdom, set the test environment ' +
    'of the file to node.',
);
