// Runs the type checks, the linter, the format check, the English check, two linters for the OpenAPI document
// and the documentation's build concurrently. Exits 1 if one of them fails.
import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';

const OPENAPI = 'apps/docs/public/openapi.json';

const CHECKS = {
  types: 'node_modules/typescript/bin/tsc -p tsconfig.base.json',
  'types of the door': 'node_modules/typescript/bin/tsc -p apps/door/browser',
  lint: 'node_modules/oxlint/bin/oxlint --type-aware --deny-warnings',
  // test/http/contract.test.ts verifies that the API serves this document.
  'contract by Redocly':
    'node_modules/@redocly/cli/bin/cli.js lint --config packages/toolchain/redocly.yaml ' + OPENAPI,
  'contract by Spectral':
    'node_modules/@stoplight/spectral-cli/dist/index.js lint --fail-severity hint ' +
    `--ruleset packages/toolchain/spectral.yaml ${OPENAPI}`,
  format: 'node_modules/prettier/bin/prettier.cjs --check --log-level warn .',
  'plain English': 'packages/toolchain/english.mjs',
  'no test of the gate depends on the speed of the machine': 'packages/toolchain/test-times.mjs',
  // The build fails for a dead link or a page without a sidebar entry.
  documentation: 'apps/docs/node_modules/vitepress/bin/vitepress.js build apps/docs',
};

/** Without telemetry and version checks. */
const QUIET = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const OPTIONS = { env: QUIET, maxBuffer: Infinity };

const run = promisify(execFile);
const results = await Promise.all(
  Object.entries(CHECKS).map(async ([name, command]) => {
    const ended = run(process.execPath, command.split(' '), OPTIONS);
    const { code = 0, stdout, stderr } = await ended.catch((error) => error);
    process.stdout.write(code === 0 ? `${name}: ok\n` : `${name}: failed\n${stdout}${stderr}\n`);
    return code === 0;
  }),
);
process.exitCode = results.every(Boolean) ? 0 : 1;
