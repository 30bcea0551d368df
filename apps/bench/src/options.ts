import path from 'node:path';
import { parseArgs } from 'node:util';
import { allContenders } from './plan.ts';

export const USAGE = `npm run bench [-- options]

  --quick             one pair each on one hot ticket; under 90 s
  --growth            10 million registrations stored, 1,000 events stored
  --bulk              bulk calls beside single ones, and beside the same rows without HTTP; about 4 min
  --client            one process with @floodgate/client beside single calls and bulk calls; about 3 min
  --against <folder>  this checkout against another, installed one, in turn; about 14 min. Exits 1 where books do not balance
  --starts [n]        starts the API n times (default: 30) and looks at what its scavenges free; 10 s each
    --flags <flags>         V8 flags to add, beside starts without them; may be repeated. With --against: for both
  --soak              ten minutes of steady load, memory of every process
  --overload          three times of what the service can do; under 2 min
  --fair              a partner beside another one who takes all there is: a flood of single calls, full bulk calls; about 2 min
  --hostile           a partner beside one that sends junk, unfinished bodies, resets, webhook and PNG calls; about 5 min
  --outages           Redis and Postgres crash under load and come back; under 4 min
    --redis-seconds <n>     how long Redis stays away (default: 60)
    --postgres-seconds <n>  how long Postgres stays away (default: 10)
    --rate <n>              registrations per second meanwhile (default: 5000)
  --finalization      what finalization costs with one ticket, 100 tickets, 1,000 events; about 5 min
  --citus             a Citus cluster beside plain Postgres, and one of its servers crashes; about 6 min. Needs TEST_CITUS_URL,
                      or a program in CITUS_CLUSTER that starts one (up, down, kill 1, start 1)
  --history           pages out of a long history, and what Postgres reads for them; about 6 min
    --rows <n>              registrations of the longest (default: 10000000)
  --webhooks          how fast webhooks tell of what is stored, and what five bad receivers cost five good ones; about 6 min
    --rows <n>              registrations that are told (default: 300000)
  --test-mode         npm start: calls on the test event beside calls on a live event; about 3 min
  --launch            npm start: a launch with e-mails beside one without; about 3 min
  --watch             npm start: a launch at 10,000/s that 200 people watch in the console; about 3 min
  --mails             npm start: e-mails a second of one delivery process; about 2 min
    --rows <n>              e-mails of a round (default: 20000)
  --idle              npm start: CPU with 0, 1,000 and 10,000 idle webhooks; about 7 min
    --checkout <folder>     these five: npm start of another, installed checkout
  --rehearsal         the generator of floodgate rehearse: 20,000 requests a second to a server that only answers; under 1 min
  --baskets           seats sold by hold and confirm beside register, and a ticket with allocations beside one without; about 4 min
  --waiting           a waiting list that is served after the capacity was raised, while newcomers are refused; about 2 min
    --rows <n>              entries of the list (default: 100000)
  --abandoned         a ticket that sells out although nine of ten baskets are abandoned; about 6 min
    --rows <n>              seats of the ticket (default: 100000)
  --door              100 devices that send 1,000 offline scans each, and online scans, beside a launch at half load; about 3 min
    --rows <n>              scans of a device (default: 1000)
  --contender <names> only these: ${allContenders.map(({ name }) => `"${name}"`).join(', ')}
  --only <workloads>  only these, e.g. "hot ticket,mix"
  --pairs <n>         pairs of runs of each comparison
  --seconds <n>       length of each run
  --out <directory>   where results go (default: bench-results)
`;

/** The options of each kind of measurement. */
const GOES_WITH: Record<string, readonly string[]> = {
  quick: ['contender', 'only', 'pairs', 'seconds'],
  growth: ['contender', 'only', 'pairs', 'seconds'],
  bulk: ['pairs', 'seconds'],
  client: ['pairs', 'seconds'],
  against: ['only', 'pairs', 'seconds', 'flags'],
  starts: ['flags', 'contender', 'seconds'],
  soak: [],
  overload: [],
  fair: ['pairs', 'seconds'],
  hostile: ['only', 'pairs', 'seconds'],
  outages: ['redis-seconds', 'postgres-seconds', 'rate'],
  finalization: ['pairs', 'seconds'],
  citus: ['pairs', 'seconds'],
  history: ['rows'],
  webhooks: ['rows', 'pairs'],
  'test-mode': ['pairs', 'seconds', 'checkout'],
  launch: ['pairs', 'seconds', 'checkout'],
  watch: ['pairs', 'seconds', 'checkout'],
  mails: ['pairs', 'rows', 'checkout'],
  idle: ['seconds', 'checkout'],
  rehearsal: ['pairs', 'seconds'],
  baskets: ['pairs', 'seconds'],
  waiting: ['pairs', 'rows'],
  abandoned: ['rows'],
  door: ['pairs', 'seconds', 'rows'],
};
const GOES_WITH_FULL_PLAN = ['contender', 'only', 'pairs', 'seconds'];
const DEFAULT_STARTS = '30';
const RESULTS = path.resolve(import.meta.dirname, '../../../bench-results');

export type Options = ReturnType<typeof parseOptions>;

/** Parses the command line. Throws with the reason if it is invalid. */
export function parseOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: withCountOfStarts(args),
    options: {
      quick: { type: 'boolean' },
      growth: { type: 'boolean' },
      bulk: { type: 'boolean' },
      client: { type: 'boolean' },
      against: { type: 'string' },
      starts: { type: 'string' },
      flags: { type: 'string', multiple: true },
      soak: { type: 'boolean' },
      overload: { type: 'boolean' },
      fair: { type: 'boolean' },
      hostile: { type: 'boolean' },
      outages: { type: 'boolean' },
      finalization: { type: 'boolean' },
      citus: { type: 'boolean' },
      history: { type: 'boolean' },
      webhooks: { type: 'boolean' },
      'test-mode': { type: 'boolean' },
      launch: { type: 'boolean' },
      watch: { type: 'boolean' },
      mails: { type: 'boolean' },
      idle: { type: 'boolean' },
      rehearsal: { type: 'boolean' },
      baskets: { type: 'boolean' },
      waiting: { type: 'boolean' },
      abandoned: { type: 'boolean' },
      door: { type: 'boolean' },
      checkout: { type: 'string' },
      rows: { type: 'string' },
      'redis-seconds': { type: 'string' },
      'postgres-seconds': { type: 'string' },
      rate: { type: 'string' },
      contender: { type: 'string' },
      only: { type: 'string' },
      pairs: { type: 'string' },
      seconds: { type: 'string' },
      out: { type: 'string', default: RESULTS },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  refuseCombination(values);
  return {
    ...values,
    contenders: values.contender?.split(','),
    workloads: values.only?.split(','),
    flags: (values.flags ?? []).map((flags) => flags.split(' ').filter((flag) => flag !== '')),
    starts: positive('starts', values.starts),
    pairs: positive('pairs', values.pairs),
    seconds: positive('seconds', values.seconds),
    redisSeconds: positive('redis-seconds', values['redis-seconds']),
    postgresSeconds: positive('postgres-seconds', values['postgres-seconds']),
    rate: positive('rate', values.rate),
    rows: positive('rows', values.rows),
  };
}

/** Adds a missing count, and allows flags as values, although they begin with a dash. */
function withCountOfStarts(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (args[index - 1] === '--flags') return [];
    if (arg === '--flags') return [`--flags=${args[index + 1] ?? ''}`];
    const isCounted = arg !== '--starts' || /^\d/.test(args[index + 1] ?? '');
    return isCounted ? [arg] : [arg, DEFAULT_STARTS];
  });
}

/** Throws for several kinds of measurement, and for options that the kind does not have. */
function refuseCombination(values: Record<string, unknown>): void {
  const given = Object.keys(values).filter((name) => name !== 'out' && name !== 'help');
  const kind = given.find((name) => name in GOES_WITH);
  const allowed = kind === undefined ? GOES_WITH_FULL_PLAN : GOES_WITH[kind]!;
  const other = given.find((name) => name !== kind && !allowed.includes(name));
  if (other === undefined) return;
  const kinds = Object.keys(GOES_WITH).filter((name) => GOES_WITH[name]!.includes(other));
  throw new Error(
    kind === undefined
      ? `--${other} goes with ${kinds.map((name) => `--${name}`).join(' or ')}`
      : `--${other} does not go with --${kind}`,
  );
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} takes a whole number from 1, not ${text}`);
  return value;
}
