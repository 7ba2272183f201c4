// A carrier that may lose, repeat, reorder, delay, cut and corrupt what it copies, one way, from machine to machine.
import type { SeededRandom } from '../support/random/seeded-random.ts'
import { SimulatedFile, type SimulatedFolder } from './inode.ts'
import type { SimulatedMachine } from './simulated-machine.ts'

export type CarrierBehaviour = 'faithful' | 'faulty'

type CarriedCopy = { readonly name: string; readonly data: Buffer }

export class SimulatedCarrier {
  readonly #from: SimulatedMachine
  readonly #to: SimulatedMachine
  readonly #ready: string
  readonly #fresh: string
  readonly #chance: SeededRandom
  /** On their way for longer than the others. */
  #delayed: CarriedCopy[] = []

  constructor(
    from: { machine: SimulatedMachine; name: string },
    to: { machine: SimulatedMachine; name: string },
    by: SeededRandom,
  ) {
    this.#from = from.machine
    this.#to = to.machine
    this.#ready = `filedrop/${to.name}/out/ready`
    this.#fresh = `filedrop/${from.name}/in/new`
    this.#chance = by
  }

  carry(manners: CarrierBehaviour): void {
    const ready = this.#from.folder(this.#ready)
    const taken = [...ready.entries].flatMap(([name, file]) =>
      file instanceof SimulatedFile ? [{ name, data: file.data }] : [],
    )
    const delayed = this.#delayed
    this.#delayed = []
    const copies = manners === 'faithful' ? [...delayed, ...taken] : this.#chance.shuffled([...delayed, ...taken])
    for (const copy of copies) this.#bring(copy, ready, manners)
  }

  #bring(copy: CarriedCopy, ready: SimulatedFolder, manners: CarrierBehaviour): void {
    const { happens } = this.#chance
    const isLeft = manners === 'faulty' && happens(0.15)
    if (isLeft) return
    ready.entries.delete(copy.name)
    ready.sync()
    if (manners === 'faithful') this.#put(copy, true)
    else this.#mistreat(copy)
  }

  #mistreat(copy: CarriedCopy): void {
    const { happens, below } = this.#chance
    if (happens(0.12)) return
    if (happens(0.25)) this.#delayed.push(copy)
    if (happens(0.12)) return
    const { name, data } = copy
    if (happens(0.06)) this.#put({ name, data: data.subarray(0, below(data.length)) }, true)
    else if (happens(0.08)) this.#put({ name, data: flipBit(data, below(data.length), below(8)) }, true)
    else this.#put(copy, happens(0.9))
  }

  #put({ name, data }: CarriedCopy, isSynced: boolean): void {
    const fresh = this.#to.folder(this.#fresh)
    const file = new SimulatedFile()
    file.data = Buffer.from(data)
    fresh.entries.set(name, file)
    if (!isSynced) return
    file.synced = file.data
    fresh.sync()
  }
}

function flipBit(data: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(data)
  copy[at] = (copy[at] ?? 0) ^ (1 << bit)
  return copy
}
