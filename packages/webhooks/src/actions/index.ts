export { perform } from '@floodgate/audit';
export * from './create.ts';
export * from './delete.ts';
export * from './pause-resume.ts';
export * from './replay.ts';
export * from './rotate.ts';
export * from './request-test.ts';
export * from './update.ts';
export { isRefused, type Refused } from './webhook-action.ts';
