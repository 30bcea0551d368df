export * from './actions.ts';
export * from './arguments.ts';
export * from './failures.ts';
export * from './output.ts';
export { Failure, reasonOf } from '@floodgate/service/failure';
