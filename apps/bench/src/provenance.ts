import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type as system } from 'node:os';
import type { BenchResults } from './results.ts';

/** Returns the command, the commit and the machine of this run. */
export function readProvenance(): Pick<BenchResults, 'command' | 'commit' | 'machine'> {
  const args = process.argv.slice(2);
  return {
    command: ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
    commit: readCommit(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      os: `${system()} ${release()}`,
    },
  };
}

function readCommit(): string | null {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
