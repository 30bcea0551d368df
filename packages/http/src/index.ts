export * from './capability.ts';
export * from './health-routes.ts';
export * from './principal.ts';
export * from './server.ts';
export * from './strict/connections.ts';
