import { Failure, repeat } from '@floodgate/service';

const EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 2_000;

const API_CPU = /^floodgate_api_process_cpu_seconds_total (\S+)/m;
const PENDING = /^floodgate_worker_oldest_pending_seconds\{[^}]*\} (\S+)/m;

/** Returns the first sample of a metric; null if there is none. */
function sampleOf(text: string, metric: RegExp) {
  const sample = metric.exec(text)?.[1];
  return sample === undefined ? null : Number(sample);
}

/** The load of the processes during the rehearsal, from their metrics. */
export type Observed = Awaited<ReturnType<typeof observe>>['observed'];

/** Reads the metrics of processes once a second during `work`. Throws Failure if one of the addresses serves none. */
export async function observe<Result>(urls: readonly string[], work: () => Promise<Result>) {
  const first = await Promise.all(urls.map(readText)).catch((error: Error) => {
    throw new Failure(`the metrics cannot be read: ${error.message}`);
  });
  const startedAt = performance.now();
  /** Age of the oldest batch that was not finalized, at most. Null without metrics of a worker. */
  let oldestPendingSeconds = null as number | null;
  let last = first;
  const read = async () => {
    // A process that does not answer keeps its last figures.
    last = await Promise.all(urls.map((url, index) => readText(url).catch(() => last[index]!)));
    const ages = last.map((text) => sampleOf(text, PENDING)).filter((age) => age !== null);
    if (ages.length > 0) oldestPendingSeconds = Math.max(oldestPendingSeconds ?? 0, ...ages);
    return 'done' as const;
  };
  const reading = repeat(read, EVERY_MS, () => {});
  try {
    const result = await work();
    await read();
    const seconds = (performance.now() - startedAt) / 1_000;
    // CPU of each API process, in cores.
    const apiCores = last.flatMap((text, index) => {
      const [before, after] = [sampleOf(first[index]!, API_CPU), sampleOf(text, API_CPU)];
      return before === null || after === null ? [] : [(after - before) / seconds];
    });
    return { result, observed: { apiCores, oldestPendingSeconds } };
  } finally {
    await reading.stop();
  }
}

async function readText(url: string) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return answer.text();
}
