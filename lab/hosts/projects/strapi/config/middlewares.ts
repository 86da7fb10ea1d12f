export default [
  'strapi::logger',
  'strapi::errors',
  'global::payments', // above the parser, because the signature covers the raw bytes
  'strapi::security',
  'strapi::cors',
  'strapi::poweredBy',
  'strapi::query',
  'strapi::body',
  'strapi::session',
  'strapi::favicon',
  'strapi::public',
];
