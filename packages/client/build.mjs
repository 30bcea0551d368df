// npm run client:build creates dist: ES modules and CommonJS, each with its types. `npm pack` and `npm
// publish` in this folder run it first. It needs only TypeScript.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const here = import.meta.dirname;
const root = path.resolve(here, '../..');
const target = path.join(here, 'dist');

rmSync(target, { recursive: true, force: true });
for (const [folder, module] of Object.entries({ esm: 'ESNext', cjs: 'CommonJS' })) {
  const outDir = path.join(target, folder);
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', path.join(here, 'tsconfig.build.json'), '--module', module, '--outDir', outDir];
  // All output goes to standard error, because `npm pack --json` writes a document to standard output.
  execFileSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  // TypeScript rewrites the imports in JavaScript files, but not in declaration files.
  for (const file of globSync(`${outDir}/*.d.ts`))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(['"]\.\/[\w-]+)\.ts(?=['"])/g, '$1.js'));
}
writeFileSync(path.join(target, 'cjs/package.json'), '{ "type": "commonjs" }\n');
// npm packs a license only from the package's own folder.
cpSync(path.join(root, 'LICENSE'), path.join(here, 'LICENSE'));
