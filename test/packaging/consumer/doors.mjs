/**
 * Opens every door of the packages that it is told, by import and by require, and says the names
 * behind each.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
// What import and require add of their own.
const own = (module) =>
  Object.keys(module).filter((name) => !['default', '__esModule', 'module.exports'].includes(name));

const doors = {};
for (const name of process.argv.slice(2)) {
  const { exports } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  for (const path of Object.keys(exports).filter((path) => path !== './package.json')) {
    const door = name + path.slice(1);
    doors[door] = { import: own(await import(door)).sort(), require: own(require(door)).sort() };
  }
}
console.log(JSON.stringify(doors));
