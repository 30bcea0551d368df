/** The environment holds a value that cannot be used. The message names every such variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Something that an operator asked for cannot be done. The message is the line that they read. */
export class Failure extends Error {
  override name = 'Failure';
}

/** What an operator gave is wrong. The message names every wrong field with its rule, and never a value. */
export class InvalidInput extends Error {
  override name = 'InvalidInput';
}
