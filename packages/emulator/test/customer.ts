/** The forms of a customer's browser: submits a page's form without following the redirect. */
export async function openPage(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  const markup = await response.text();
  return {
    response,
    markup,
    submit: (
      name: 'pay' | 'cancel' | 'fail',
      fields: Record<string, string> = {},
      extra: Record<string, string> = {},
    ) => {
      const form = new RegExp(
        `<form method="post" action="([^"]+/${name})">(.*?)</form>`,
        's',
      ).exec(markup);
      if (form === null) throw new Error(`the page has no form to ${name}`);
      const hidden = [...form[2]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const body = new URLSearchParams({
        ...Object.fromEntries(hidden.map(([, key, value]) => [key!, value!])),
        ...fields,
      });
      return fetch(new URL(form[1]!, url), {
        method: 'POST',
        redirect: 'manual',
        body,
        headers: extra,
      });
    },
  };
}
