export * from './arguments.ts';
export * from './failures.ts';
export * from './output.ts';
export * from './progress-bar.ts';
export * from './run-commands.ts';
export { Failure, reasonOf } from '@floodgate/service/failure';
