import { attempt, type Mode, type Settings } from '../mode.ts';
import { FILLING_SECONDS, measureBeside, type Case } from './beside.ts';
import { HOSTILE_CASES } from './hostile-cases.ts';

const OVERHEAD_SECONDS = 6;

const secondsOfCase = ({ seconds }: Settings): number => 2 * (seconds + FILLING_SECONDS) + OVERHEAD_SECONDS;

function casesOf({ only }: Settings): readonly Case[] {
  const cases = HOSTILE_CASES.filter(
    ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
  );
  if (cases.length === 0) throw new Error(`nothing matches --only ${only.join(',')}`);
  return cases;
}

/** A partner of 200 calls a second next to a hostile one, or next to strangers. */
export const HOSTILE: Mode = {
  name: 'hostile',
  help: 'a partner while others send junk, unfinished bodies, invented keys and floods',
  usual: { pairs: 1, seconds: 6, only: [] },
  duration: (settings) => settings.pairs * casesOf(settings).length * secondsOfCase(settings),
  measure: async (bench, settings) => {
    for (let round = 1; round <= settings.pairs; round += 1)
      for (const one of casesOf(settings)) {
        const values = await attempt(bench, `beside ${one.name}, round ${round}`, () =>
          measureBeside(bench, one, settings.seconds, round),
        );
        const table = 'A partner of 200 calls a second beside a hostile one';
        if (values) bench.results.add(table, one.name, values, one.targets);
        bench.progress.add(secondsOfCase(settings));
      }
  },
};
