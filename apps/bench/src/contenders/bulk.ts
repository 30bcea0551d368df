import { generateLoad } from '@floodgate/rehearsal/load/generate';
import type { Load, LoadResult, RequestShape } from '@floodgate/rehearsal/load/load';
import type { Contender } from './contender.ts';
import { startFloodgate } from './floodgate.ts';

/** Registrations per call. */
const SIZE = 500;
/** Twice the calls of one commit (BATCH_LIMIT): one half is answered while the other is committed. */
const CONNECTIONS = 8;

/** Floodgate with the same registrations in bulk calls. */
export const bulk: Contender = {
  name: 'bulk',
  description: `Floodgate with the same registrations in calls of ${SIZE}, over ${CONNECTIONS} connections`,
  start: async (surroundings) => ({
    ...(await startFloodgate(surroundings)),
    generate: async (load) => inRegistrations(await generateLoad(inCalls(load))),
  }),
};

const inCalls = (load: Load): Load => ({
  ...load,
  connections: CONNECTIONS,
  requests: load.requests.map((request) => callOf(request, SIZE)),
});

/** Returns a bulk call with `size` copies of the registration. */
export function callOf(request: RequestShape, size: number): RequestShape {
  const registrations = Array.from({ length: size }, () => request.body).join(',');
  return { ...request, path: `${request.path}/bulk`, body: `{"registrations":[${registrations}]}` };
}

/** Counts each answer as the registrations of its call. The books show whether all were stored. */
function inRegistrations(result: LoadResult): LoadResult {
  const answers = Object.entries(result.answers).map(([status, count]) => [status, count * SIZE]);
  return { ...result, answers: Object.fromEntries(answers) as LoadResult['answers'] };
}
