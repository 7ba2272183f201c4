// A site on a simulated machine: the real carrier over real keys, a real journal and a real audit chain, whose process
// may die at any call to the disk or the journal.

import * as fs from 'node:fs'
import { join } from 'node:path'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { signWithKeys, verifyJws } from '../../adapters/keys/jose/signatures.ts'
import { type SqliteAudit, sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { sqliteJournal } from '../../adapters/store/sqlite/journal/journal.ts'
import { type SqliteFile, sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { type FiledropTransport, filedropTransport } from '../../adapters/transport/filedrop/transport.ts'
import type { Signatures } from '../../daemon/kernel/cryptography/signatures.ts'
import type { Peer } from '../../daemon/kernel/identity/peer.ts'
import type { Journal } from '../../daemon/kernel/messaging/journal.ts'
import type { DeliveryVerdict, InboundMessage } from '../../daemon/kernel/messaging/transport.ts'
import { messageKinds } from '../../daemon/message-kinds.ts'
import { createRestoreEventFactory, freezeRestoredChannels } from '../../daemon/offline/store/restored-channels.ts'
import { SimulatedMachine } from './simulated-machine.ts'

export type SimulationClock = { wall: number; monotonic: number }

export type SimulatedSiteOptions = {
  readonly name: string
  /** A folder of the real disk, for the databases. */
  readonly home: string
  readonly clock: SimulationClock
  readonly seed: number
  /** Signs from now on; the last one is the current one. */
  readonly keys: StoredKey[]
}

export class SimulatedSite {
  readonly name: string
  readonly machine: SimulatedMachine
  /** Of the databases; another after a restore. */
  file!: SqliteFile
  audit!: SqliteAudit
  /** The effects of messages in the roles, by message id. */
  readonly effects = new Set<string>()
  /** Deliveries of each message to a role: more than one only where a process died. */
  readonly deliveries = new Map<string, number>()
  readonly pinned = new Map<string, Peer>()
  readonly keys: StoredKey[]
  transport: FiledropTransport
  readonly #clock: SimulationClock
  readonly #folder: string
  #journal!: Journal
  #databases = 0
  #random: number

  constructor({ name, home, clock, seed, keys }: SimulatedSiteOptions) {
    this.name = name
    this.#clock = clock
    this.keys = keys
    this.machine = new SimulatedMachine(`${name}-${seed}`)
    this.#folder = join(home, name)
    fs.mkdirSync(this.#folder, { recursive: true })
    this.#openDatabase()
    this.#random = seed
    this.transport = this.#begin()
  }

  get journal(): Journal {
    return this.#journal
  }

  get tenant_id(): string {
    return `tenant-${this.name}`
  }

  async enrol(peer: Peer): Promise<void> {
    this.pinned.set(peer.name, peer)
    await this.transport.enrol(peer)
    await this.#start()
  }

  /** A new process over what the last one left. */
  async restart(how: 'killed' | 'power'): Promise<void> {
    const old = this.transport
    this.machine.restart(how)
    await old.stop().catch(() => undefined)
    this.transport = this.#begin()
    await this.#start()
  }

  backup(): Buffer {
    return this.file.db.serialize()
  }

  /** The databases as they were; the folders of the channels as they are. */
  async restore(backup: Buffer): Promise<void> {
    this.machine.restart('killed')
    await this.transport.stop().catch(() => undefined)
    await this.file.close()
    this.#openDatabase(backup)
    const createEvent = createRestoreEventFactory({
      tenant_id: this.tenant_id,
      subject: 'cli:root',
      now: this.#clock.wall,
    })
    await freezeRestoredChannels({ sqlite: this.file, audit: this.audit }, [], createEvent)
    this.transport = this.#begin()
    await this.#start()
  }

  async end(): Promise<void> {
    await this.transport.stop().catch(() => undefined)
    await this.file.close()
    this.machine.end()
  }

  async #start(): Promise<void> {
    const { machine } = this
    const { process } = machine
    await this.transport.start(async (message) => {
      machine.step(process)
      const verdict = this.#take(message)
      machine.step(process)
      return verdict
    })
  }

  /** As the roles do: the effect keeps the message's id, and so is none when it is repeated. */
  #take({ statement: { msg_id, kind }, body }: InboundMessage): DeliveryVerdict {
    if (kind === 'inventory' || kind === 'keys') return { verdict: 'applied' }
    this.deliveries.set(msg_id, (this.deliveries.get(msg_id) ?? 0) + 1)
    if (body.refuse === true) return { verdict: 'refused', code: 'session_closed', detail: 'the session is closed' }
    this.effects.add(msg_id)
    return { verdict: 'applied' }
  }

  #openDatabase(backup?: Buffer): void {
    this.#databases += 1
    const file = join(this.#folder, `${this.#databases}.db`)
    if (backup) fs.writeFileSync(file, backup, { mode: 0o600 })
    this.file = sqliteFile({ file, addonDir: join(this.#folder, 'native') })
    this.audit = sqliteAudit(this.file, `site@${this.name}`)
    this.#journal = sqliteJournal(this.file, this.audit)
  }

  #begin(): FiledropTransport {
    const { machine, name, tenant_id, pinned } = this
    const { process } = machine
    const journal = makeMortal(this.#journal, machine, process)
    const audit = makeMortal(this.audit, machine, process)
    const quiet = () => undefined
    return filedropTransport({
      site: name,
      kinds: messageKinds,
      tenant_id,
      root: `${machine.home}/filedrop`,
      peers: { list: async () => [...pinned.values()], get: async (peer) => pinned.get(peer) },
      signatures: this.#signatures(),
      journal,
      label_policy: { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] },
      clock: { now: () => this.#clock.wall, monotonic: () => this.#clock.monotonic },
      random: (bytes) => {
        this.#random += 1
        return this.#random
          .toString(16)
          .padStart(bytes * 2, '0')
          .slice(-bytes * 2)
      },
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      record: (events) => audit.append(events),
      metrics: { count: quiet, set: quiet },
      settings: { rescan_ms: 0, watch: false },
    })
  }

  #messageKeys(): StoredKey[] {
    return this.keys.filter(({ public_key }) => public_key.use === 'message')
  }

  #signatures(): Signatures {
    return {
      sign: (type, payload) => signWithKeys(this.#messageKeys().slice(-1), type, payload),
      verify: verifyJws,
      publicKeys: () => this.keys.map(({ public_key }) => public_key),
    }
  }
}

/** Every call is a step of the process: it may die before the call, or after it and before it hears the answer. */
function makeMortal<T extends object>(of: T, machine: SimulatedMachine, process: number): T {
  return new Proxy(of, {
    get(target, name, self) {
      const original: unknown = Reflect.get(target, name, self)
      if (typeof original !== 'function') return original
      return async (...args: unknown[]) => {
        machine.step(process)
        const answer: unknown = await original.apply(target, args)
        machine.step(process)
        return answer
      }
    },
  })
}
