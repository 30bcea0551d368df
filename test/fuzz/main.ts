// npm run test:fuzz: the fuzzer of npm test, for as long as you like and from a seed that you choose.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `npm run test:fuzz [-- options]

  --requests <n>  messages to send (default: 100000)
  --seed <n>      what decides them all (default: a random one; the run says which)

Exit codes: 0 nothing found, 1 something found, 2 wrong options.
`;

const ROOT = path.resolve(import.meta.dirname, '../..');

const options = readOptions();
const child = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', 'test/fuzz/fuzz.test.ts'],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_REQUESTS: options.requests,
      ...(options.seed !== undefined && { FUZZ_SEED: options.seed }),
    },
  },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});

function readOptions(): { requests: string; seed?: string | undefined } {
  try {
    const { values } = parseArgs({
      options: {
        requests: { type: 'string', default: '100000' },
        seed: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) exitWith(process.stdout, USAGE, 0);
    for (const name of ['requests', 'seed'] as const) {
      if (!/^[0-9]{1,9}$/.test(values[name] ?? '0')) throw new Error(`--${name}: a whole number`);
    }
    return values;
  } catch (error) {
    return exitWith(process.stderr, `${(error as Error).message}\n\n${USAGE}`, 2);
  }
}

function exitWith(stream: NodeJS.WriteStream, text: string, code: number): never {
  stream.write(text);
  process.exit(code);
}
