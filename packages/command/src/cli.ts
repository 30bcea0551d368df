interface Output {
  write(text: string): unknown;
}

/** What the commands are given from the outside. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdout: Output;
  stderr: Output;
}
