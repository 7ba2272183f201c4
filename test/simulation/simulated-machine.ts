// Machines with a disk in memory: a process may die at any call, the power may go at any call, and nothing that was not
// synced is sure to outlive the power.
import { SimulatedFolder } from './inode.ts'

/** Thrown by every call of a process that has died. */
export class ProcessDiedError extends Error {}

/** A machine: its disk outlives the processes that run on it, one after the other. */
export class SimulatedMachine {
  readonly root = new SimulatedFolder()
  readonly name: string
  process = 1
  isDead = false
  /** Calls until the process dies; undefined: it lives. */
  fuse: number | undefined
  /** Writes that still find room; undefined: all do. */
  room: number | undefined

  constructor(name: string) {
    this.name = name
    machines.set(name, this)
  }

  /** The folder of the process that runs now; of one that died, every path is dead. */
  get home(): string {
    return `/sim/${this.name}@${this.process}`
  }

  /** Before each call: whether the process that makes it lives, and for how long still. */
  step(process: number): void {
    if (this.isDead || process !== this.process) throw new ProcessDiedError(`${this.name} is dead`)
    if (this.fuse === undefined) return
    if (this.fuse > 0) {
      this.fuse -= 1
      return
    }
    this.isDead = true
    throw new ProcessDiedError(`${this.name} died here`)
  }

  /** Ends the process, if it has not died, and begins another. With `power` what was not synced is lost. */
  restart(how: 'killed' | 'power'): void {
    this.process += 1
    this.isDead = false
    this.fuse = undefined
    if (how === 'power') this.root.cut()
  }

  /** A folder as another machine's hand finds it: no process of this one is needed. Made when it is not there. */
  folder(path: string): SimulatedFolder {
    let at = this.root
    for (const step of path.split('/')) {
      const next = at.entries.get(step) ?? new SimulatedFolder()
      if (!(next instanceof SimulatedFolder)) throw new Error(`${path} leads through a file`)
      at.entries.set(step, next)
      at = next
    }
    return at
  }

  end(): void {
    machines.delete(this.name)
  }
}

export const machines = new Map<string, SimulatedMachine>()
