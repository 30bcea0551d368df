// Asks the registry whether a dependency has a known vulnerability. Exits 0 if none has, 1 if one has, and 3
// if the registry did not say: "not audited" is not "no vulnerability".
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const NOT_AUDITED = 3;

const { packageManager } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const audit = (...options) =>
  spawnSync('npx', ['--yes', packageManager, 'audit', ...options], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });

const asked = audit('--json');
const reason = notAuditedReason(asked);
if (reason !== undefined) {
  process.stdout.write(`not audited: ${reason}\n`);
  process.exitCode = NOT_AUDITED;
} else if (asked.status === 0) {
  process.stdout.write('no known vulnerability\n');
} else {
  const { stdout, stderr } = audit();
  process.stdout.write(stdout + stderr);
  process.exitCode = 1;
}

/** Returns why the registry did not answer an audit, from what `pnpm audit --json` printed. Undefined: it answered. */
function notAuditedReason({ stdout, stderr, error }) {
  if (error) return error.message;
  const answer = parsed(stdout);
  if (!answer) return firstLine(`${stderr}\n${stdout}`) ?? 'no answer';
  return answer.metadata?.vulnerabilities ? undefined : (answer.error?.message ?? 'the answer has no counts');
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstLine(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .find(Boolean);
}
