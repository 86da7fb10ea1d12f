import { request } from 'node:http';

/** Returns the status of a GET with another Host header, which fetch() does not allow. */
export function statusAt(url: string, host: string, headers: object = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { ...headers, host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .once('error', reject)
      .end();
  });
}
