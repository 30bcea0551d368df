import type { Observed } from './advice.ts';

const EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 2_000;

/** Returns the sum of the samples of a metric, whatever their labels; null without a sample. */
export function sumOf(text: string, metric: RegExp): number | null {
  const values = Array.from(text.matchAll(metric), ([, value]) => Number(value));
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

const API_CPU = /^floodgate_api_process_cpu_seconds_total (\S+)/gm;
const WAITING = /^floodgate_api_waiting\{[^}]*\} (\S+)/gm;
const PENDING = /^floodgate_worker_oldest_pending_seconds\{[^}]*\} (\S+)/gm;

const greater = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

/** Reads the metrics of processes once a second until `stop`. Throws if one of the addresses serves none. */
export async function observe(urls: readonly string[]): Promise<{ stop(): Promise<Observed> }> {
  const first = await Promise.all(urls.map(readText));
  const startedAt = performance.now();
  let mostWaiting: number | null = null;
  let oldestPendingSeconds: number | null = null;
  let last = first;
  const look = async () => {
    // A process that does not answer keeps its last figures.
    last = await Promise.all(urls.map((url, index) => readText(url).catch(() => last[index]!)));
    const waiting = last.map((text) => sumOf(text, WAITING)).filter((one) => one !== null);
    if (waiting.length > 0)
      mostWaiting = greater(
        mostWaiting,
        waiting.reduce((sum, one) => sum + one, 0),
      );
    for (const text of last) oldestPendingSeconds = greater(oldestPendingSeconds, sumOf(text, PENDING));
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => (looking = look()), EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
      await look();
      const seconds = (performance.now() - startedAt) / 1_000;
      const apiCores = last.flatMap((text, index) => {
        const [before, after] = [sumOf(first[index]!, API_CPU), sumOf(text, API_CPU)];
        return before === null || after === null ? [] : [(after - before) / seconds];
      });
      return { apiCores, mostWaiting, oldestPendingSeconds };
    },
  };
}

async function readText(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return answer.text();
}
