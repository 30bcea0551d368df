export * from './build-api.ts';
export * from './capability.ts';
export * from './health-routes.ts';
export * from './principal.ts';
export * from './server.ts';
