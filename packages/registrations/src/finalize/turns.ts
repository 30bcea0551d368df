interface Turn {
  /** Who waits for it to end: told whether it is theirs now. */
  readonly waiting: ((isTheirs: boolean) => void)[];
  isSlow: boolean;
  timer: NodeJS.Timeout;
}

/**
 * Gives turns, one at a time for each shard. Nobody waits for one that takes longer than `patienceMs`: whoever waits
 * holds a place that another shard could use.
 */
export function createTurns(patienceMs: number) {
  const turns = new Map<number, Turn>();

  function begin(shardId: number, waiting: Turn['waiting']): void {
    const turn: Turn = { waiting, isSlow: false, timer: setTimeout(sendAway, patienceMs) };
    turns.set(shardId, turn);
    function sendAway(): void {
      turn.isSlow = true;
      for (const tell of waiting.splice(0)) tell(false);
    }
  }

  /** Hands the turn on. */
  function end(shardId: number): void {
    const { timer, waiting } = turns.get(shardId)!;
    clearTimeout(timer);
    turns.delete(shardId);
    const next = waiting.shift();
    if (!next) return;
    begin(shardId, waiting);
    next(true);
  }

  /** Resolves to a function that ends the turn, when it has come; null where the one before takes too long. */
  return async function take(shardId: number): Promise<(() => void) | null> {
    const turn = turns.get(shardId);
    if (turn?.isSlow) return null;
    if (!turn) begin(shardId, []);
    else if (!(await new Promise<boolean>((tell) => turn.waiting.push(tell)))) return null;
    return () => end(shardId);
  };
}
