/** One run of V8's garbage collector, as `--trace-gc-nvp` tells of it. */
export interface Collection {
  kind: 'scavenge' | 'mark-compact';
  pauseMs: number;
  /** How much of what was in the new space a scavenge frees, 0–1: the rest is kept there or becomes old. */
  freedShare: number;
}

interface TracedCollection {
  gc: string;
  pause: number;
  start_object_size: number;
  end_object_size: number;
  promoted: number;
  new_space_survived: number;
}

const LINE = /^\[\d+:0x[\da-f:]+\] +\d+ ms: GC: (\{.*\})$/gm;

/** Returns the collections that a process wrote of, in their order. Its own log, and half a line, are passed over. */
export function parseGcTrace(output: string): Collection[] {
  return Array.from(output.matchAll(LINE), ([, json]) => collectionOf(json!)).filter((one) => one !== null);
}

function collectionOf(json: string): Collection | null {
  const traced = parseOrNull(json);
  if (!traced) return null;
  const { gc, pause, start_object_size: start, end_object_size: end } = traced;
  const survived = traced.promoted + traced.new_space_survived;
  const freed = start - end;
  const kind = gc === 's' ? 'scavenge' : 'mark-compact';
  return { kind, pauseMs: pause, freedShare: freed / (freed + survived) };
}

/** Another writer's line may stand within one of V8's. */
function parseOrNull(json: string): TracedCollection | null {
  try {
    return JSON.parse(json) as TracedCollection;
  } catch {
    return null;
  }
}
