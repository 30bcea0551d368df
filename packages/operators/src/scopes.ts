/** The subjects of operations. `attendees`: names, addresses and answers of people. `access`: operators, sessions and tokens. */
export const AREAS = [
  'events',
  'tickets',
  'partners',
  'registrations',
  'attendees',
  'webhooks',
  'mail',
  'passes',
  'door',
  'queue',
  'audit',
  'access',
] as const;

export type Area = (typeof AREAS)[number];

export type Scope = `${Area}:${'read' | 'write'}`;

export const SCOPES = AREAS.flatMap((area): Scope[] => [`${area}:read`, `${area}:write`]);

const mayWrite = (scope: Scope) => scope.endsWith(':write');

/** The scopes of each role of a person. A viewer sees nothing about attendees. */
export const ROLES = {
  viewer: SCOPES.filter((scope) => !mayWrite(scope) && scope !== 'attendees:read'),
  operator: SCOPES.filter((scope) => scope !== 'access:write'),
  owner: SCOPES,
} satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof ROLES;
