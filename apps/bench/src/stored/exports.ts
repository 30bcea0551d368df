import { setTimeout as delay } from 'node:timers/promises';
import { peakMiB } from '@floodgate/test/harness/process-usage.ts';
import { startProcess } from '@floodgate/test/harness/service-process.ts';
import type { Values } from '../report/results.ts';

const MEASURED_EVERY_MS = 100;

/** Exports an event by the operator's command. Throws if rows are missing. */
export async function timeExport(url: string, eventId: number, rows: number): Promise<Values> {
  const startedAt = performance.now();
  const command = startProcess('cli', { DATABASE_URL: url }, ['registration', 'export', String(eventId)]);
  let peak = 0;
  while (command.child.exitCode === null) {
    peak = (await peakMiB(command.child.pid!)) ?? peak;
    await delay(MEASURED_EVERY_MS);
  }
  await command.exited;
  const seconds = (performance.now() - startedAt) / 1_000;
  const exported = command.output().split('\r\n').length - 2;
  if (exported !== rows) throw new Error(`the export of event ${eventId} has ${exported} rows, not ${rows}`);
  return { 'export s': seconds, 'export MiB': peak };
}
