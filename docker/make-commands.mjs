// Writes the image's commands to a directory. Each is a shell script that replaces itself by Node.js, so that
// signals reach Node.js. The flags are those of packages/toolchain/run.mjs.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const COMMANDS = {
  api: 'apps/api',
  worker: 'apps/worker',
  delivery: 'apps/delivery',
  console: 'apps/console',
  floodgate: 'apps/cli',
};

const root = path.resolve(import.meta.dirname, '..');
const { env, everyFlags, flags } = JSON.parse(
  readFileSync(path.join(root, 'packages/toolchain/small-process.json'), 'utf8'),
);
const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);

for (const [command, folder] of Object.entries(COMMANDS)) {
  const words = [...variables, 'node', ...everyFlags, ...flags[folder]];
  const script = `#!/bin/sh\nexec env ${words.join(' ')} ${root}/${folder}/src/main.ts "$@"\n`;
  writeFileSync(path.join(process.argv[2], command), script, { mode: 0o755 });
}
