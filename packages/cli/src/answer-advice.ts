/** The next step, by the status that a webhook answered to a genuine notification. */
export function adviceFor(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status < 400) return 'A redirect is not followed: name the address that it leads to.';
  if (status === 401 || status === 403) {
    return 'The signature was not accepted. Is it the same secret on both sides, and are the raw bytes verified? paylink diagnose --help';
  }
  if (status === 404) return 'There is no route at this path: compare it with where the webhook is mounted.';
  if (status === 405) return 'The path is there, but not for POST.';
  if (status === 415) return 'The server refuses the content type: let the webhook take the raw body, whatever its type.';
  if (status >= 500) return 'The server failed on its own side: its log says why.';
  return 'The server understood the notification and refused it: its log says why.';
}
