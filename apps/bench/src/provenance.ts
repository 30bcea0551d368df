import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type as system } from 'node:os';

/** Returns a line with the command, the commit and the machine of this run. */
export function readProvenance(startedAt: string, versions: Record<string, string>): string {
  const args = process.argv.slice(2).map((arg) => (arg.includes(' ') ? `"${arg}"` : arg));
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const memory = Math.round(totalmem() / 2 ** 30);
  const cpu = cpus()[0]?.model ?? 'unknown';
  const machine = `${cpu}, ${cpus().length} cores, ${memory} GiB, ${system()} ${release()}`;
  const known = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `\`${command}\`, commit ${readCommit()}, ${startedAt}, on ${machine}, ${known.join(', ')}`;
}

/** Returns the commit, with "-dirty" if the tree has changes. */
function readCommit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}
