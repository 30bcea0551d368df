// Type check, lint and format check, side by side. Exits 1 where any of them finds something.
import { spawn } from 'node:child_process';
import process from 'node:process';

const CHECKS = {
  types: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.base.json'],
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'],
  format: ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
};

const results = await Promise.all(
  Object.entries(CHECKS).map(async ([name, args]) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    process.stdout.write(code === 0 ? `${name}: ok\n` : `${name}: failed\n${output}\n`);
    return code === 0;
  }),
);
process.exitCode = results.every(Boolean) ? 0 : 1;
