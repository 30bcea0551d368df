import { ASSUMED, project, PROJECTED_NODES, splitOf, type Projection } from '../citus/projection.ts';
import { cpuRatios } from '../citus/ratios.ts';
import type { Citus, CitusRun, NodeStop } from '../results.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { countsText, figure, figureWithRange } from './figures.ts';
import { spread } from './statistics.ts';

export function citusTables(citus: Citus): Table[] {
  const { nodeStop } = citus;
  return [runsTable(citus), ...(nodeStop ? [nodeStopTable(nodeStop)] : []), ...projectionTables(citus)];
}

type Engine = Pick<CitusRun, 'engine' | 'load'> & { runs: readonly CitusRun[] };

function runsTable({ versions, workers, shards, runs }: Citus): Table {
  const plain = runs.filter(({ engine }) => engine === 'plain Postgres');
  const of = (title: string, read: (run: CitusRun) => number) =>
    right<Engine>(title, (engine) => figureWithRange(spread(engine.runs.map(read))));
  const part = (title: string, name: keyof CitusRun['cpuMicros']) =>
    of(title, ({ cpuMicros }) => cpuMicros[name]);
  const columns = [
    left<Engine>('load', ({ load }) => load),
    left<Engine>('engine', ({ engine }) => engine),
    of('registrations/s', ({ perSecond }) => perSecond),
    right<Engine>('per s of Postgres CPU ÷ plain', ({ engine, runs: same }) => {
      const ratios = cpuRatios([...same, ...plain], engine);
      return ratios.length === 0 ? undefined : figureWithRange(spread(ratios));
    }),
    part('coordinator µs', 'coordinator'),
    part('other servers µs', 'workers'),
    part('APIs µs', 'apis'),
    part('worker µs', 'worker'),
    part('Redis µs', 'redis'),
    of('in a batch', ({ batchSize }) => batchSize),
    of('p50 ms', ({ p50Ms }) => p50Ms),
    of('p99 ms', ({ p99Ms }) => p99Ms),
    of('not accepted', ({ failed }) => failed),
    left<Engine>('books', ({ runs: same }) => same.find(({ fault }) => fault !== '')?.fault ?? 'balance'),
  ];
  const engines = [...Map.groupBy(runs, ({ load, engine }) => `${load} ${engine}`).values()].map((same) => {
    const { load, engine } = same[0]!;
    return { load, engine, runs: same };
  });
  const { citus, postgres } = versions;
  const caption =
    `Citus ${citus}, a coordinator and ${workers} servers with ${shards} shards, ` +
    `beside the same PostgreSQL ${postgres} without it (CPU time per registration)`;
  return tableOf(caption, columns, engines);
}

function nodeStopTable(stop: NodeStop): Table {
  const { before, away } = stop.living;
  const row = (title: string, value: string) => ({ title, value });
  const rows = [
    row('registrations/s, evenly for all events', figure(stop.perSecond)),
    row("the others' events, accepted/s before", figure(before.perSecond)),
    row("the others' events, accepted/s while it is away", figure(away.perSecond)),
    row("the others' events, answers while it is away", countsText(away.answers)),
    row(
      "the others' events, p99 before and while it is away",
      `${figure(before.p99Ms)}, ${figure(away.p99Ms)} ms`,
    ),
    row('its own events, answers while it is away', countsText(stop.deadAnswers)),
    row('its own events, p99 while it is away', `${figure(stop.deadP99Ms)} ms`),
    row('lost, doubled', `${stop.lost}, ${stop.doubled}`),
    row('books', stop.fault || 'balance'),
  ];
  const columns = [
    left<(typeof rows)[0]>('what', ({ title }) => title),
    right<(typeof rows)[0]>('measured', ({ value }) => value),
  ];
  return tableOf(`One of the servers crashes and is away for ${stop.seconds} s`, columns, rows);
}

function projectionTables({ runs }: Citus): Table[] {
  const split = splitOf(runs);
  if (!split) return [];
  const columns = [
    right<Projection>('servers with shards', ({ nodes }) => `${nodes}`),
    right<Projection>('they take/s', ({ nodesPerSecond }) => figure(nodesPerSecond)),
    right<Projection>('one coordinator takes/s', (one) => figure(one.coordinatorPerSecond)),
    right<Projection>('by the coordinator/s', ({ byCoordinator }) => figure(byCoordinator.perSecond)),
    right<Projection>('APIs', ({ byCoordinator }) => `${byCoordinator.apis}`),
    right<Projection>('connections into each', ({ byCoordinator }) => `${byCoordinator.connections}`),
    right<Projection>('by any server/s', ({ byAnyNode }) => figure(byAnyNode.perSecond)),
    right<Projection>('APIs', ({ byAnyNode }) => `${byAnyNode.apis}`),
    right<Projection>('connections into each', ({ byAnyNode }) => `${byAnyNode.connections}`),
  ];
  const { cores, share, groupsPerApi } = ASSUMED;
  const caption =
    `On paper, from the CPU time measured above: ${cores} cores a server, used to ${share}; an API process a core, with ` +
    `${groupsPerApi} groups under way; as many registrations in a batch; two network hops by the coordinator, and by ` +
    'any server one more than none for its own shards';
  return [
    tableOf(
      caption,
      columns,
      PROJECTED_NODES.map((nodes) => project(split, nodes)),
    ),
  ];
}
