export { redriveAction } from './finalize/redrive-action.ts';
