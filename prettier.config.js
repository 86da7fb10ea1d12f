export default {
  printWidth: 100,
  singleQuote: true,
  trailingComma: 'all',
  // Babel formats TypeScript alike, and loads in less time.
  overrides: [{ files: '*.ts', options: { parser: 'babel-ts' } }],
};
