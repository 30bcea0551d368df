// The process of the load generator: receives a load from its parent, generates it, sends back the result and ends.
import { once } from 'node:events';
import type { Load } from './load.ts';
import { runLoad } from './run-load.ts';

// Ends if the parent ends first.
process.on('disconnect', () => process.exit());
const [load] = (await once(process, 'message')) as [Load];
const result = await runLoad(load, (progress) => process.send!({ progress }));
// Exits explicitly: connections without answers would keep the process alive.
process.send!(result, () => process.exit());
