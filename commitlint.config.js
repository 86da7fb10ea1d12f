/** STYLE: `scope: imperative`, at most 72 characters, the why in the body. */
export default {
  rules: {
    'header-max-length': [2, 'always', 72],
    'type-empty': [2, 'never'],
    'subject-empty': [2, 'never'],
    'subject-full-stop': [2, 'never', '.'],
    'body-leading-blank': [2, 'always'],
  },
  parserPreset: {
    // Several scopes are separated by commas.
    parserOpts: {
      headerPattern: /^([\w@/, .:-]+?): (.+)$/,
      headerCorrespondence: ['type', 'subject'],
    },
  },
};
