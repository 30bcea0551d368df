import type { Contender } from '../contenders/contender.ts';
import type { Run } from './measure.ts';
import type { Workload } from './workloads.ts';

/** A contender under a workload. */
export interface Entry {
  /** Its row in the report. */
  row: string;
  contender: Contender;
  workload: Workload;
}

/** An entry, and another one that it is compared with. */
export interface Pairing {
  /** The table of the report. */
  title: string;
  mine: Entry;
  /** Absent: `mine` is measured alone. */
  other?: Entry;
  /** Number of pairs of runs. */
  pairs: number;
  seconds: number;
  /** Both run at the same time and are measured in turn. Absent: each run starts and stops its processes. */
  isSideBySide?: boolean;
}

/**
 * Two neighbouring runs of a pairing. Undefined: a run that does not count, or that the pairing does not
 * have.
 */
export interface Pair {
  mine: Run | undefined;
  other: Run | undefined;
}
