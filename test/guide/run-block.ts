import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Block } from './page.ts';

const execute = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** `npx` of the guide: what it names is installed here, in the pinned version. With `-p` it names packages, and then the program. */
const NPX = `#!/bin/sh\nwhile [ "$1" = -p ]; do shift 2; done\nname=$(basename "$1")\nshift\nexec "${root}/test/node_modules/.bin/$name" "$@"\n`;

const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'NodeNext',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: ['node'],
  typeRoots: [path.join(root, 'node_modules/@types')],
  strict: true,
  rootDir: '.',
  outDir: 'dist',
};

/** Makes a folder as a partner's project would be. Below test/, where what the snippets import is found. */
export function createProject(name: string): string {
  const project = path.join(root, 'test/.generated', name);
  mkdirSync(path.join(project, 'bin'), { recursive: true });
  writeFileSync(path.join(project, 'package.json'), '{ "type": "module" }');
  const config = { compilerOptions: COMPILER_OPTIONS, include: ['**/*.ts'], exclude: ['dist'] };
  writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(path.join(project, 'bin/npx'), NPX, { mode: 0o755 });
  return project;
}

/** A Python that has what the guide asks for: one of a version manager, or the system's. */
export const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import dateutil']).status === 0,
);

/** Whether blocks in this language can be run here. In CI they have to. */
export const canRun = (language: string): boolean =>
  language !== 'python' || python !== undefined || Boolean(process.env['CI']);

/** A page is pasted into one shell, so what a block exports holds for the next blocks, too. */
function keepingExports(code: string): string {
  const names = Array.from(code.matchAll(/^export (\w+)=/gm), ([, name]) => name);
  const keep = names.length > 0 ? `declare -p ${names.join(' ')} >> exports` : '';
  return `[ ! -f exports ] || . ./exports\n${code}\n${keep}`;
}

/** Runs a block in the project and resolves to what it printed. Rejects where it does not compile, or fails. */
export async function runBlock(
  { language, code, line }: Block,
  project: string,
  variables: Record<string, string>,
): Promise<string> {
  const env = { ...process.env, ...variables, PATH: `${project}/bin:${process.env['PATH']}` };
  const run = async (program: string, ...args: string[]) =>
    (await execute(program, args, { cwd: project, env })).stdout;
  const name = `block-${line}`;
  const write = (extension: string) => writeFileSync(path.join(project, `${name}.${extension}`), code);
  switch (language) {
    case 'sh':
      return run('bash', '-euo', 'pipefail', '-c', keepingExports(code));
    case 'python':
      write('py');
      return run(python ?? 'python3', `${name}.py`);
    case 'js':
      write('js');
      return run(process.execPath, `${name}.js`);
    case 'ts':
      write('ts');
      await run(process.execPath, path.join(root, 'node_modules/typescript/bin/tsc'), '-p', '.');
      return run(process.execPath, `dist/${name}.js`);
    default:
      throw new Error(`line ${line}: nobody knows how to run ${language}`);
  }
}
