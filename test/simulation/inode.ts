// The contents of the simulated disk: files and folders, each as it is now and as a power cut would leave it.

let numbers = 1
let changes = 1

export class SimulatedFile {
  readonly ino = numbers++
  /** In changes of any file so far. */
  changed = changes++
  #data: Buffer = Buffer.alloc(0)
  /** The state on the platter; undefined until the first sync. */
  synced: Buffer | undefined
  mode = 0o600
  nlink = 1

  get data(): Buffer {
    return this.#data
  }

  set data(bytes: Buffer) {
    this.#data = bytes
    this.changed = changes++
  }

  cut(): void {
    this.data = this.synced ?? Buffer.alloc(0)
  }
}

export class SimulatedFolder {
  readonly ino = numbers++
  entries = new Map<string, Inode>()
  synced = new Map<string, Inode>()
  mode = 0o700
  readonly nlink = 2

  /** Names not synced are gone, and names removed without a sync are back. */
  cut(): void {
    this.entries = new Map(this.synced)
    for (const inode of this.entries.values()) inode.cut()
  }

  sync(): void {
    this.synced = new Map(this.entries)
  }

  /** All that lies here, as if the machine had been shut down in order. */
  syncAll(): void {
    this.sync()
    for (const inode of this.entries.values()) {
      if (inode instanceof SimulatedFolder) inode.syncAll()
      else inode.synced = inode.data
    }
  }
}

export type Inode = SimulatedFile | SimulatedFolder

/** As much of `fs.Stats` as the carrier asks for. */
export function buildStats(inode: Inode) {
  const isFile = inode instanceof SimulatedFile
  const size = isFile ? inode.data.length : 4_096
  return {
    ino: inode.ino,
    size,
    blocks: Math.ceil(size / 512),
    mode: inode.mode | (isFile ? 0o100000 : 0o040000),
    nlink: inode.nlink,
    ctimeMs: inode instanceof SimulatedFile ? inode.changed : 0,
    isFile: () => isFile,
    isDirectory: () => !isFile,
    isSymbolicLink: () => false,
    isSocket: () => false,
  }
}
