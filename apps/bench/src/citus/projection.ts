import { median } from '../report/statistics.ts';
import type { CitusRun } from '../results.ts';

/** Assumptions that were not measured. */
export const ASSUMED = {
  /** Cores of each server. */
  cores: 8,
  /** Share of a server's CPU time that can be used before answers become slow. */
  share: 0.7,
  /** Concurrent groups of an API, each on a connection: see registrar.ts. */
  groupsPerApi: 8,
};

export const PROJECTED_NODES = [4, 16, 64];

/** CPU time per registration in microseconds: medians of launches through the coordinator. */
export interface Split {
  coordinator: number;
  workers: number;
  apis: number;
}

export interface Projection {
  /** Servers with shards. */
  nodes: number;
  /** Registrations per second that saturate them, and that saturate one coordinator. */
  nodesPerSecond: number;
  coordinatorPerSecond: number;
  /** All calls through the coordinator: the lower of both. */
  byCoordinator: Entry;
  /** Calls through any server, which forwards them like the coordinator. */
  byAnyNode: Entry;
}

interface Entry {
  perSecond: number;
  /** Required API processes, with a core each. */
  apis: number;
  /** Concurrent connections to each server with shards. */
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

/** Projects the registrations per second of this number of servers, from the CPU time per registration. */
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
    // One to the entry server, and one to the server of the shard.
    byAnyNode: entry((nodes * micros) / (coordinator + workers), 2 - 1 / nodes),
  };
}
