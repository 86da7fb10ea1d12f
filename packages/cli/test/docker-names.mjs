// Resolves host names, as Docker's DNS does for containers of a compose file.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const addresses = JSON.parse(process.env.TEST_ADDRESSES);
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(addresses[name] ?? name, ...rest);
syncBuiltinESMExports();
