import { doorOperations } from '@floodgate/door/console';
import { eventOperations } from '@floodgate/events/console';
import { mailOperations } from '@floodgate/mail/console';
import type { Operation, OperationContext } from '@floodgate/operators';
import { auditOperations, operatorOperations, processOperations } from '@floodgate/operators/console';
import { partnerOperations } from '@floodgate/partners/console';
import { passOperations } from '@floodgate/passes/console';
import { queueOperations, registrationOperations } from '@floodgate/registrations/console';
import { ticketOperations } from '@floodgate/tickets/console';
import { waitingListOperations } from '@floodgate/waiting-list/console';
import { webhookOperations } from '@floodgate/webhooks/console';

import type { Logger } from '@floodgate/service';
import type { ConsoleConfig } from './config.ts';

/** Every operation of the operator API and the console, in the order of the documentation. */
export const operationsOf = (config: ConsoleConfig): Operation[] => [
  ...eventOperations,
  ...ticketOperations,
  ...waitingListOperations,
  ...registrationOperations,
  ...partnerOperations,
  ...webhookOperations(config.WEBHOOK_ALLOW_PRIVATE === 'true'),
  ...mailOperations(config),
  ...passOperations,
  ...doorOperations,
  ...queueOperations,
  ...processOperations,
  ...auditOperations,
  ...operatorOperations,
];

export type ConsoleContext = OperationContext & { log: Logger };

/** Finds operations by their id. */
export type Operations = ReadonlyMap<string, Operation>;
