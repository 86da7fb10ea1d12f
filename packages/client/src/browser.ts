/** In a browser or an app the API key would be public, so loading this package there throws. */
export * from './index.js'; // the names that a bundler links. The next line runs before any of them can be used

throw new Error(
  '@paylink/client was loaded in a browser or an app. The API key belongs on a server: import it from server code only. ' +
    'In a test under jsdom, set the test environment of this file to node.',
);
