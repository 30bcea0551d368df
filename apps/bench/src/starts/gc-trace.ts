/** One run of V8's garbage collector in the output of `--trace-gc-nvp`. */
export interface Collection {
  kind: 'scavenge' | 'mark-compact';
  pauseMs: number;
  /**
   * Bytes freed ÷ bytes allocated since the previous collection, which is the whole new space if all objects start there. Survivors of one
   * collection even out. The difference to 1 is the share of objects that were promoted to, or allocated in, the old space.
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

/** Returns the collections in a process's output, in order. Skips its log and incomplete lines. */
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

/** Returns null for a line of V8 that another line interrupts. */
function parseOrNull(json: string): TracedCollection | null {
  try {
    return JSON.parse(json) as TracedCollection;
  } catch {
    return null;
  }
}
