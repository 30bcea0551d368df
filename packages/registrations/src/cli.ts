export { addQueueCommands } from './finalize/queue-command.ts';
export { addRedriveCommand } from './finalize/redrive-command.ts';
export { addReconcileCommand } from './reconcile/command.ts';
