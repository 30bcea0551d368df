import { median } from '../report/statistics.ts';
import type { CitusRun } from '../results.ts';

/** What the projection assumes and did not measure. */
export const ASSUMED = {
  /** Of each server. */
  cores: 8,
  /** Of its cores' time that a server can be used to before answers get slow. */
  share: 0.7,
  /** Groups that an API has under way at once, each on a connection: see registrar.ts. */
  groupsPerApi: 8,
};

export const PROJECTED_NODES = [4, 16, 64];

/** Microseconds of CPU time per registration; medians of launches that were entered by the coordinator. */
export interface Split {
  coordinator: number;
  workers: number;
  apis: number;
}

export interface Projection {
  /** Servers that hold shards. */
  nodes: number;
  /** Registrations per second at which they are busy, and at which one coordinator is. */
  nodesPerSecond: number;
  coordinatorPerSecond: number;
  /** The lower of both: where all enter by the coordinator. */
  byCoordinator: Entry;
  /** Where each call may enter by any server and is passed on to another one, as the coordinator would. */
  byAnyNode: Entry;
}

interface Entry {
  perSecond: number;
  /** API processes that this takes, with a core each. */
  apis: number;
  /** Into each server that holds shards, under way at once. */
  connections: number;
}

export function splitOf(runs: readonly CitusRun[]): Split | undefined {
  const entered = runs.filter(
    ({ engine, load, fault }) => engine === 'Citus' && load === 'launches' && fault === '',
  );
  if (entered.length === 0) return undefined;
  const of = (part: keyof Split) => median(entered.map(({ cpuMicros }) => cpuMicros[part]));
  return { coordinator: of('coordinator'), workers: of('workers'), apis: of('apis') };
}

/** How many registrations per second so many servers could take, by the CPU time that each takes. */
export function project({ coordinator, workers, apis }: Split, nodes: number): Projection {
  const micros = ASSUMED.cores * ASSUMED.share * 1e6;
  const nodesPerSecond = (nodes * micros) / workers;
  const coordinatorPerSecond = micros / coordinator;
  const entry = (perSecond: number, perCall: number): Entry => {
    const processes = Math.ceil((perSecond * apis) / (ASSUMED.share * 1e6));
    const connections = Math.ceil((processes * ASSUMED.groupsPerApi * perCall) / nodes);
    return { perSecond, apis: processes, connections };
  };
  return {
    nodes,
    nodesPerSecond,
    coordinatorPerSecond,
    byCoordinator: entry(Math.min(nodesPerSecond, coordinatorPerSecond), 1),
    // One into the server that it enters by, and one into the one that has its shard.
    byAnyNode: entry((nodes * micros) / (coordinator + workers), 2 - 1 / nodes),
  };
}
