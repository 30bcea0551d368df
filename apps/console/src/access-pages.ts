import type { FastifyInstance } from 'fastify';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext } from './operations.ts';
import { actions, cellsOf, link, table, together } from './view.ts';

/** Adds the pages of operators, and of what they have changed. */
export function addAccessPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context, false)('/operators', ['access:read'], showOperators);
  adder(app, context)('/audit', ['audit:read'], showAudit);
}

const showOperators: Show = async ({ operations, read, action }) => {
  const [people, open] = await Promise.all([
    read(operations.operatorList, {}),
    read(operations.accessList, {}),
  ]);
  return [
    'Operators',
    table('Operators', people, (operator) => ({
      ...cellsOf(operator, 'name', 'role'),
      events: operator.eventRoles.map(({ eventId, role }) => `${eventId}: ${role}`),
      ...cellsOf(operator, 'email', 'disabledAt', 'createdAt'),
      actions: together(
        action(operations.operatorUpdate, { name: operator.name }, 'Change'),
        action(operations.operatorGrant, { name: operator.name }, 'Give a role for an event'),
        action(operations.operatorRevoke, { name: operator.name }, 'Take a role'),
        action(operations.operatorResetPassword, { name: operator.name }, 'Reset password'),
        action(operations.operatorSignOut, { name: operator.name }, 'Sign out'),
      ),
    })),
    actions(action(operations.operatorCreate, {}), action(operations.tokenCreate, {})),
    table('Open sessions and tokens', open, (access) => ({
      ...cellsOf(access, 'id', 'kind', 'name', 'scopes', 'eventIds', 'createdAt', 'expiresAt'),
      actions: action(operations.accessRevoke, { accessId: access.id }, 'Revoke'),
    })),
  ];
};

const showAudit: Show = async ({ operations, query: { subject }, read }) => [
  'Audit',
  table(
    subject ? `Changes of ${subject}` : 'Latest changes',
    await read(operations.auditList, { limit: 200, subject }),
    (entry) => ({
      subject: link(`/audit?subject=${encodeURIComponent(entry.subject)}`, entry.subject),
      ...cellsOf(entry, 'at', 'actor', 'action', 'before', 'after'),
    }),
  ),
];
