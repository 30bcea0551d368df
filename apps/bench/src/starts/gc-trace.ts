/** One run of V8's garbage collector, as `--trace-gc-nvp` tells of it. */
export interface Collection {
  kind: 'scavenge' | 'mark-compact';
  pauseMs: number;
  /**
   * What a collection freed ÷ what was allocated since the one before: a new space full, where all is allocated there. What
   * is kept for the next one evens out; missing from 1 is what has become old, or was allocated as old.
   */
  freedShare: number;
}

interface TracedCollection {
  gc: string;
  pause: number;
  start_object_size: number;
  end_object_size: number;
  allocated: number;
}

const LINE = /^\[\d+:0x[\da-f:]+\] +\d+ ms: GC: (\{.*\})$/gm;

/** Returns the collections that a process wrote of, in their order. Its own log, and half a line, are passed over. */
export function parseGcTrace(output: string): Collection[] {
  return Array.from(output.matchAll(LINE), ([, json]) => collectionOf(json!)).filter((one) => one !== null);
}

function collectionOf(json: string): Collection | null {
  const traced = parseOrNull(json);
  if (!traced) return null;
  const kind = traced.gc === 's' ? 'scavenge' : 'mark-compact';
  const freed = traced.start_object_size - traced.end_object_size;
  return { kind, pauseMs: traced.pause, freedShare: freed / traced.allocated };
}

/** Another writer's line may stand within one of V8's. */
function parseOrNull(json: string): TracedCollection | null {
  try {
    return JSON.parse(json) as TracedCollection;
  } catch {
    return null;
  }
}
