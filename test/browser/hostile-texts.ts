/** Texts that a hostile customer or merchant might put on the pages. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'a script': '<script>window.harmed = 1</script>',
  'the end of an element': '</h1></title></style></textarea><script>window.harmed = 1</script>',
  'an attribute': '"><img src=x onerror="window.harmed = 1">',
  'a quoted attribute': `' autofocus onfocus='window.harmed = 1`,
  'a template': '${window.harmed = 1} {{window.harmed = 1}} <%= 1 %>',
  'an entity': '&lt;b&gt; &amp; &#60;script&#62;',
  'another direction of writing': 'Pay \u202E 000 51 AFC F \u2066 \u202D gnp.exe',
  'Arabic and Hebrew': 'سلة التسوق סל קניות',
  'a terminal’s signs': '\u001B[31mred\u001B[0m \u001B]0;title\u0007 \u0008\u0008',
  'marks above marks': `Z${'\u0351\u0346\u0349'.repeat(60)}`,
  '255 characters without a blank': 'W'.repeat(255),
  'lines of their own': 'one\ntwo\nthree',
};
