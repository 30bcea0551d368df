import type { Registry } from '@prometheus-io/client';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import type { ConsumerKind, Database } from '@floodgate/database';
import type { Logger, Page, Round } from '@floodgate/service';

/** What a capability is opened with. */
export interface DeliveryContext<Config> {
  db: Database;
  log: Logger;
  /** For counters of its own. */
  metrics: Registry;
  config: Config;
}

/** What a capability does in the delivery process while it is open. */
export interface OpenDelivery {
  rounds: readonly Round[];
  /** What it shows to operators, at the address of the health endpoint. */
  pages?: readonly Page[];
  /** Begins nothing more, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** A capability's face towards the delivery process: it reads the journal, and tells somebody outside. */
export interface DeliveryCapability {
  kind: ConsumerKind;
  settings: TProperties;
  open(context: DeliveryContext<object>): Promise<OpenDelivery>;
}

/** Returns the face as it is, with the types of its settings inferred. */
export function defineDelivery<Settings extends TProperties>(face: {
  kind: ConsumerKind;
  settings: Settings;
  open(context: DeliveryContext<Static<TObject<Settings>>>): Promise<OpenDelivery>;
}): DeliveryCapability {
  return {
    ...face,
    // The process has read them all by `settings`.
    open: (context) => face.open(context as DeliveryContext<Static<TObject<Settings>>>),
  };
}
