/** In a browser the secret would be public, and so worth nothing: loading this package there is the fault itself. */
export * from './hmac.web.js'; // the names that a bundler links; the next line runs before any of them can be used

throw new Error(
  '@paylink/core was loaded in a browser. The webhook secret belongs on a server: import it from server code only. ' +
    'In a test under jsdom, set the test environment of this file to node.',
);
