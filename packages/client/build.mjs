// npm run client:build [-- <directory>] makes what partners install: ES modules, CommonJS, the types of both, and a manifest of
// its own. `npm pack <directory>` packs it, `npm publish <directory>` publishes it. TypeScript alone does it.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import manifest from './package.json' with { type: 'json' };

const here = import.meta.dirname;
const root = path.resolve(here, '../..');
const target = path.resolve(process.argv[2] ?? path.join(here, 'dist'));

/** npm takes the newest of these that the partner's Node.js can run; a test runs each. */
const UNDICI = '^6.29.1 || ^7.30.2 || ^8.12.4';
const MODULES = { esm: 'ESNext', cjs: 'CommonJS' };

rmSync(target, { recursive: true, force: true });
for (const [folder, module] of Object.entries(MODULES)) compile(module, path.join(target, folder));
writeJson(path.join(target, 'cjs/package.json'), { type: 'commonjs' });
writeJson(path.join(target, 'package.json'), published(manifest));
cpSync(path.join(here, 'README.md'), path.join(target, 'README.md'));
cpSync(path.join(root, 'LICENSE'), path.join(target, 'LICENSE'));

function compile(module, outDir) {
  mkdirSync(outDir, { recursive: true });
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', path.join(here, 'tsconfig.build.json'), '--module', module, '--outDir', outDir];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  // TypeScript rewrites the imports of what is run, but not those of the types.
  for (const file of globSync(`${outDir}/*.d.ts`))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}

function published({ name, version, description, license, type }) {
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: '>=18.17' },
    sideEffects: false,
    files: ['esm', 'cjs'],
    main: './cjs/index.js',
    types: './cjs/index.d.ts',
    exports: {
      '.': entry('index'),
      './contract': entry('contract'),
      './package.json': './package.json',
    },
    dependencies: { undici: UNDICI },
  };
}

function entry(name) {
  const of = (folder) => ({ types: `./${folder}/${name}.d.ts`, default: `./${folder}/${name}.js` });
  return { import: of('esm'), require: of('cjs') };
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
