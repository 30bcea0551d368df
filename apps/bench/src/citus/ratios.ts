import type { CitusRun } from '../results.ts';

const postgresMicros = ({ engine, cpuMicros: { coordinator, workers } }: CitusRun) =>
  engine === 'plain Postgres' ? coordinator : coordinator + workers;

/** Returns registrations per second of Postgres's CPU time, divided by plain Postgres's in the same round. */
export function cpuRatios(runs: readonly CitusRun[], engine: CitusRun['engine']): number[] {
  return runs
    .filter((run) => run.engine === engine && run.fault === '' && engine !== 'plain Postgres')
    .flatMap((run) => {
      const plain = runs.find(
        (one) => one.engine === 'plain Postgres' && one.round === run.round && one.load === run.load,
      );
      return plain?.fault === '' ? [postgresMicros(plain) / postgresMicros(run)] : [];
    });
}
