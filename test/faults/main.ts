import { parseArgs } from 'node:util';
import { missingCitus } from '../servers/citus.ts';
import { runCampaign } from './campaign.ts';
import { runClientCampaign } from './client-campaign.ts';
import { FAULTS } from './faults.ts';
import { reachedTable } from './reached.ts';
import {
  describeClientCampaign,
  describeMissed,
  describeRound,
  describeViolations,
  recoveryTable,
} from './report.ts';

const USAGE = `npm run test:faults -- [--rounds 200] [--seed N] [--round K] [--fault NAME] [--hold-ms 200-4000] [--citus] [--history DIR]
npm run test:faults -- --client [--registrations 100000] [--seed N] [--fault NAME] [--hold-ms 200-4000] [--history DIR]

Strikes a whole deployment (2 APIs, 2 workers, 2 delivery processes, Postgres, Redis) with faults while partners register, and checks the
history afterwards. Then a second checker reads the file with the history of the round. --history keeps all these files, for
npm run test:history. If neither --fault nor --round is given, rounds follow until every listed pair of fault and state was met.
--citus: a Citus cluster (a coordinator, 2 worker nodes) in place of Postgres. --seed and --round run one round of an earlier campaign again.
--client: registers through @floodgate/client while every fault strikes once.`;

/** Faults that may last this long are the long version's. */
const LONG_VERSION_MS = 2_000;
/** For pairs that were missed. */
const EXTRA_ROUNDS = 40;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    round: { type: 'string' },
    fault: { type: 'string' },
    history: { type: 'string' },
    'hold-ms': { type: 'string', default: '200-4000' },
    citus: { type: 'boolean', default: false },
    client: { type: 'boolean', default: false },
    registrations: { type: 'string', default: '100000' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const seed = whole('seed', values.seed);
const round = values.round === undefined ? undefined : whole('round', values.round);
const rounds = Math.max(whole('rounds', values.rounds), round ?? 1);
const [from, to = from] = values['hold-ms'].split('-').map((text) => whole('hold-ms', text)) as [
  number,
  number?,
];
if (to < from) refuse('--hold-ms must be a range, like 200-4000');

const noCitus = values.citus ? missingCitus() : null;
if (noCitus !== null) refuse(`${noCitus} (TEST_CITUS_BIN: the directory of its programs)`);

const { fault = '' } = values;
if (!FAULTS.some(({ name }) => name.includes(fault)))
  refuse(`no such fault: ${fault}\n${FAULTS.map(({ name }) => name).join('\n')}`);

function whole(name: string, text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : refuse(`--${name}: "${text}" is no whole number`);
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}

if (values.client) {
  const result = await runClientCampaign({
    seed,
    registrations: whole('registrations', values.registrations),
    onlyFault: fault,
    directory: values.history,
    hold: { from, to },
    onStruck: ({ name }, answered) => process.stdout.write(`${answered} answered, ${name}\n`),
    onMissing: ({ name }, reason) => process.stdout.write(`left out: ${name} (${reason})\n`),
  });
  process.stdout.write(`seed ${seed}: ${describeClientCampaign(result)}\n`);
  process.exit(result.violations.length > 0 ? 1 : 0);
}

const again = [
  `npm run test:faults -- --seed ${seed} --hold-ms ${from}-${to}`,
  ...(values.citus ? ['--citus'] : []),
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
const { results, reached, missed } = await runCampaign({
  signal: stop.signal,
  directory: values.history,
  extraRounds: fault === '' && round === undefined && rounds >= FAULTS.length ? EXTRA_ROUNDS : undefined,
  seed,
  rounds,
  isOnCitus: values.citus,
  onlyRound: round,
  onlyFault: fault,
  hold: { from, to },
  isLong: to >= LONG_VERSION_MS,
  onRound: (number, result, isExtra) => {
    process.stdout.write(`${describeRound(`${number}/${rounds}`, result)}\n`);
    const one = isExtra ? `${again} --fault '${result.faults[0]!.name}'` : again;
    if (result.violations.length > 0)
      process.stdout.write(`${describeViolations(`${one} --round ${number}`, result)}\n`);
  },
  onMissing: ({ name }, reason) => process.stdout.write(`left out: ${name} (${reason})\n`),
});
process.stdout.write(`\n${recoveryTable(results)}\n\n${reachedTable(reached)}\n`);
if (missed.length > 0) process.stdout.write(`${describeMissed(missed)}\n`);
const isBroken = results.some(({ violations }) => violations.length > 0);
process.exitCode = isBroken || missed.length > 0 ? 1 : 0;
