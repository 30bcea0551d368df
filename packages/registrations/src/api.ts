export { registerRoute } from './register/route.ts';
export { registrationStatusRoute } from './status/route.ts';
