export * from './actions.ts';
export * from './arguments.ts';
export * from './failures.ts';
export * from './open-queue.ts';
export * from './output.ts';
export * from './settings.ts';
export { Failure } from '@floodgate/service/failure';
