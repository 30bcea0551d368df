import type { FastifyInstance } from 'fastify';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext } from './operations.ts';
import { actions, cellsOf, link, table, together } from './view.ts';

/** Adds the pages of operators, and of what they have changed. */
export function addAccessPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/operators', ['access:read'], showOperators);
  add('/audit', ['audit:read'], showAudit);
}

const showOperators: Show = async ({ operations, read, action }) => {
  const [people, open] = await Promise.all([
    read(operations.operatorList, {}),
    read(operations.accessList, {}),
  ]);
  return [
    'Operators',
    table('Operators', people, (operator) => ({
      ...cellsOf(operator, 'name', 'role', 'email', 'disabledAt', 'createdAt'),
      actions: together(
        action(operations.operatorUpdate, { name: operator.name }, 'Change'),
        action(operations.operatorResetPassword, { name: operator.name }, 'Reset password'),
        action(operations.operatorSignOut, { name: operator.name }, 'Sign out'),
      ),
    })),
    actions(action(operations.operatorCreate, {}), action(operations.tokenCreate, {})),
    table('Open sessions and tokens', open, (access) => ({
      ...cellsOf(access, 'id', 'kind', 'name', 'scopes', 'createdAt', 'expiresAt'),
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
