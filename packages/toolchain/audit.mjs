// Asks the package registry for known vulnerabilities in what pnpm-lock.yaml pins. Exit codes: 0 none known, 1 some (they
// are listed), 2 the registry gave no answer, which is no good news: many mirrors have no audit endpoint.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import workspace from '../../package.json' with { type: 'json' };

const { stdout, stderr } = spawnSync('npx', ['--yes', workspace.packageManager, 'audit', '--json'], {
  cwd: path.resolve(import.meta.dirname, '../..'),
  encoding: 'utf8',
  shell: process.platform === 'win32',
});

let advisories;
try {
  const answer = JSON.parse(stdout);
  if (!answer.advisories) throw new Error('the answer holds no advisories');
  advisories = Object.values(answer.advisories);
} catch {
  process.stderr.write(`audit: nothing was audited, the registry gave no answer\n${stderr}`);
  process.exit(2);
}
for (const { severity, module_name, title, url } of advisories)
  process.stdout.write(`${severity}: ${module_name}: ${title} (${url})\n`);
process.stdout.write(`audit: ${advisories.length} known vulnerabilities\n`);
process.exit(advisories.length > 0 ? 1 : 0);
