import { appendFileSync } from 'node:fs';

// Loaded into each API process under test. It appends to a file when the process stood still: the answers of
// that time say more about the machine than about the service.

const TICK_MS = 50;
/** A later tick shows that the process stood still. The same as in running-time.ts. */
const LATE_MS = 4 * TICK_MS;

const file = process.env['HEARTBEAT_FILE']!;
// A stepped clock of the machine must not look like a stop.
const now = () => performance.timeOrigin + performance.now();
let tickedAt = now();
setInterval(() => {
  const at = now();
  if (at - tickedAt > LATE_MS) note(`${tickedAt} ${at}\n`);
  tickedAt = at;
}, TICK_MS).unref();

/** A file that cannot be written must not end the process under test. */
function note(line: string): void {
  try {
    appendFileSync(file, line);
  } catch {
    // The next stop is noted again.
  }
}
