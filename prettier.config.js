export default { printWidth: 132, singleQuote: true, trailingComma: 'all' };
