/**
 * Loading this package in a browser or an app throws, because the API key would be public there.
 */
export * from './index.js'; // bundlers link these names. The next line throws before any use

throw new Error(
  '@paylink/client was loaded in a browser or an app. The API key belongs on a server: ' +
    'import this package from server code only. In a test under jsdom, set the test environment of this file to node.',
);
