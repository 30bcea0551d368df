import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SIZE = '4g';
const MAX_ATTEMPTS = 100;

let isAllowed: boolean | undefined;

/** Whether this process may mount a file system, which takes Linux and root. */
export function canMountDisk(): boolean {
  isAllowed ??= tryToMount();
  return isAllowed;
}

function tryToMount(): boolean {
  const directory = mkdtempSync(path.join(tmpdir(), 'floodgate-mount-'));
  const isMounted = mount(directory);
  if (isMounted) execFileSync('umount', [directory]);
  rmdirSync(directory);
  return isMounted;
}

function mount(directory: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'tmpfs', directory]).status === 0;
}

/** A small file system in memory, which can be full. */
export class OwnDisk {
  readonly #directory: string;

  constructor(directory: string) {
    if (!mount(directory)) throw new Error(`nothing can be mounted on ${directory}`);
    this.#directory = directory;
  }

  /** Takes all room that is left. */
  fill(): void {
    // Between the look and the resize somebody may have written more.
    for (let attempt = 1; !this.#resize(String(this.#usedBytes())); attempt += 1)
      if (attempt === MAX_ATTEMPTS) throw new Error(`${this.#directory} cannot be filled`);
  }

  empty(): void {
    if (!this.#resize(SIZE)) throw new Error(`${this.#directory} cannot be emptied`);
  }

  unmount(): void {
    execFileSync('umount', [this.#directory]);
  }

  #usedBytes(): number {
    const { blocks, bfree, bsize } = statfsSync(this.#directory);
    return (blocks - bfree) * bsize;
  }

  #resize(size: string): boolean {
    return spawnSync('mount', ['-o', `remount,size=${size}`, this.#directory]).status === 0;
  }
}
