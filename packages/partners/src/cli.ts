export { addPartnerCommands } from './command.ts';
export { addKeyCommands } from './keys/command.ts';
