import { TypeCompiler } from '@sinclair/typebox/compiler';
import { JOBS, type JobName, type JobPayload } from './jobs.ts';

const checks = Object.fromEntries(
  Object.entries(JOBS).map(([name, definition]) => [name, TypeCompiler.Compile(definition.payload)]),
);

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(JOBS, name);
}

/** Whether the payload is what jobs of this name carry. Producers and consumers both ask. */
export function isPayloadOf<Name extends JobName>(name: Name, payload: unknown): payload is JobPayload<Name> {
  return checks[name]?.Check(payload) ?? false;
}
