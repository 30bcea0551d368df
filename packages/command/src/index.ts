export * from './actions.ts';
export * from './arguments.ts';
export * from './failures.ts';
export * from './output.ts';
export * from './servers.ts';
export { Failure } from '@floodgate/service/failure';
