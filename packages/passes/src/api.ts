import { defineApi } from '@floodgate/http';
import { addEventRoute, addKeysRoute, addRevocationsRoute } from './door-routes.ts';
import { createPassSigner } from './keys.ts';
import { addPassRoute } from './pass-route.ts';

/** Serves passes, and everything that a door needs to verify them. */
export const passesApi = defineApi({
  settings: {},
  open(context) {
    const signer = createPassSigner({ db: context.reads });
    return {
      publicRoutes: (app) => addKeysRoute(app, signer),
      routes(api) {
        addPassRoute(api, context, signer);
        addEventRoute(api, context, signer);
        addRevocationsRoute(api, context, signer);
      },
    };
  },
});
