import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { describeRound, describeViolations, recoveryTable } from './report.ts';

const USAGE = `npm run test:faults -- [--rounds 200] [--seed N] [--round K] [--fault NAME] [--hold-ms 200-4000]

Strikes a whole deployment (2 APIs, 2 workers, Postgres, Redis) with faults while partners register, and checks the
history afterwards. --seed and --round run one round of an earlier campaign again.`;

/** Faults that may last this long are the long version's. */
const LONG_VERSION_MS = 2_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    round: { type: 'string' },
    fault: { type: 'string' },
    'hold-ms': { type: 'string', default: '200-4000' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const [from, to = from] = values['hold-ms'].split('-').map(Number);
const seed = Number(values.seed);
const rounds = Math.max(Number(values.rounds), Number(values.round ?? 0));
const again = [
  `npm run test:faults -- --seed ${seed} --hold-ms ${from}-${to}`,
  ...(values.fault === undefined ? [] : [`--fault '${values.fault}'`]),
].join(' ');
process.stdout.write(`seed ${seed}\n`);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    process.stdout.write('stopping after this round\n');
    stop.abort();
  });
}
const results = await runCampaign({
  signal: stop.signal,
  seed,
  rounds,
  onlyRound: values.round === undefined ? undefined : Number(values.round),
  onlyFault: values.fault,
  hold: { from: from!, to: to! },
  isLong: to! >= LONG_VERSION_MS,
  onRound: (round, result) => {
    process.stdout.write(`${describeRound(`${round}/${rounds}`, result)}\n`);
    if (result.violations.length > 0)
      process.stdout.write(`${describeViolations(`${again} --round ${round}`, result)}\n`);
  },
  onMissing: (fault, reason) => process.stdout.write(`left out: ${fault.name} (${reason})\n`),
});
process.stdout.write(`\n${recoveryTable(results)}\n`);
process.exitCode = results.some(({ violations }) => violations.length > 0) ? 1 : 0;
