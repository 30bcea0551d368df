import type { Cli } from './run-commands.ts';

const WIDTH = 30;
/** To the start of the line, which is emptied. */
const EMPTY_LINE = '\r\u001B[K';

/** A line that shows how far a command is. */
export interface ProgressBar {
  /** `label` stands after the numbers. */
  show(done: number, total: number, label: string): void;
  /** Empties the line, so that other output can follow. */
  clear(): void;
  /** Leaves the line as it is, and begins another. */
  end(): void;
}

/** Returns a progress bar on standard error. It writes nothing unless that is a terminal. */
export function createProgressBar({ stderr }: Pick<Cli, 'stderr'>): ProgressBar {
  const write = (text: string) => void (stderr.isTTY && stderr.write(text));
  return {
    show: (done, total, label) => {
      const filled = total === 0 ? WIDTH : Math.floor((WIDTH * done) / total);
      write(`${EMPTY_LINE}[${'#'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${done} of ${total} ${label}`);
    },
    clear: () => write(EMPTY_LINE),
    end: () => write('\n'),
  };
}
