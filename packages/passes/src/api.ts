import { defineApi } from '@floodgate/http';
import { addEventRoute, addKeysRoute, addRevocationsRoute } from './door-routes.ts';
import { addPassRoute } from './pass-route.ts';
import { createPassSigner } from './signer.ts';

/** Serves passes, and everything that a door needs to verify them. */
export const passesApi = defineApi({
  settings: {},
  open({ reads, shardReads, answerWithinMs }) {
    const signer = createPassSigner({ db: reads });
    const dependencies = { reads, shardReads, answerWithinMs, signer };
    return {
      publicRoutes(app) {
        addKeysRoute(app, signer);
      },
      routes(api) {
        addPassRoute(api, dependencies);
        addEventRoute(api, dependencies);
        addRevocationsRoute(api, dependencies);
      },
    };
  },
});
