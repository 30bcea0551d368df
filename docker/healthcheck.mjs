// Exits 0 if the service of this container is ready. A container of the operator's command is always ready.
import { globSync, readFileSync } from 'node:fs';

const { PORT = '3000', WORKER_PORT = '3001', DELIVERY_PORT = '3002', CONSOLE_PORT = '3003' } = process.env;
const PORTS = {
  'apps/api/src/main.ts': PORT,
  'apps/worker/src/main.ts': WORKER_PORT,
  'apps/delivery/src/main.ts': DELIVERY_PORT,
  'apps/console/src/main.ts': CONSOLE_PORT,
};

function commandLine(file) {
  try {
    return readFileSync(file, 'utf8').split('\0');
  } catch {
    return []; // The process has ended.
  }
}

const words = globSync('/proc/[0-9]*/cmdline').flatMap(commandLine);
const isRunning = ([program]) => words.some((word) => word.endsWith(program));
const ports = Object.entries(PORTS)
  .filter(isRunning)
  .map(([, port]) => port);
const answers = ports.map((port) => fetch(`http://127.0.0.1:${port}/health/ready`));
const ready = (await Promise.all(answers)).every(({ ok }) => ok);
process.exit(ready ? 0 : 1);
