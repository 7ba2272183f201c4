// One seeded history of two sites: sends, a mischievous carrier, deaths, power cuts, restores and rotations; then it heals,
// and every message that was ever sent must have been applied once, or stand somewhere with its reason.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readKeyFiles, type StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../adapters/keys/jose/signatures.ts'
import { canonicalJson } from '../../daemon/kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { type Peer, peer as pin } from '../../daemon/kernel/identity/peer.ts'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'
import { SimulatedCarrier } from './carrier.ts'
import { ProcessDiedError } from './simulated-machine.ts'
import { SimulatedSite, type SimulationClock } from './simulated-site.ts'

const start_ms = Date.parse('2026-03-01T12:00:00Z')
const minute_ms = 60_000

/** Memory where there is some to write to: a history waits for its databases' disk, and there are thousands. */
export const fastFolder = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export type KeyRing = { readonly alpha: readonly StoredKey[]; readonly root: StoredKey; readonly bravo: StoredKey }

/** The keys of all histories: making them anew for each would take longer than living through it. */
export async function createKeyRing(): Promise<KeyRing> {
  const dir = join(fs.mkdtempSync(join(fastFolder, 'simulated-keys-')), 'keys')
  for (let i = 0; i < 4; i++) await generateKey(dir, { use: 'message', now: start_ms + i })
  await generateKey(dir, { use: 'root', now: start_ms })
  const keys = readKeyFiles(dir)
  fs.rmSync(join(dir, '..'), { recursive: true })
  const message = keys.filter(({ public_key }) => public_key.use === 'message')
  const root = keys.find(({ public_key }) => public_key.use === 'root')
  const [bravo, ...alpha] = message
  if (!root || !bravo) throw new Error('the keys were not made')
  return { alpha, root, bravo }
}

export type SentMessage = {
  readonly event_id: string
  readonly msg_id: string
  readonly epoch: number
  readonly seq: number
}

/** Everything that a history is made of, for its steps and for its judge. */
export class History {
  readonly chance: SeededRandom
  readonly clock: SimulationClock = { wall: start_ms, monotonic: 0 }
  readonly alpha: SimulatedSite
  readonly bravo: SimulatedSite
  readonly there: SimulatedCarrier
  /** Sends that alpha has confirmed; those that a restore made it forget are moved to `forgotten`. */
  readonly sentMessages = new Map<string, SentMessage>()
  readonly forgotten: SentMessage[] = []
  /** Sent and not confirmed: repeated until it is, as a role repeats it. */
  readonly pending = new Map<string, boolean>()
  /** The events of the history, for the reader of a failure. */
  readonly eventLog: string[] = []
  deaths = 0
  readonly #home: string
  readonly #ring: KeyRing
  #keysInUse = 1
  #events = 0
  #epoch = 1
  #backup: { bytes: Buffer; sentMessages: Set<string> } | undefined

  constructor(seed: number, ring: KeyRing) {
    this.chance = seededRandom(seed)
    this.#home = fs.mkdtempSync(join(fastFolder, 'history-'))
    this.#ring = ring
    const common = { home: this.#home, clock: this.clock, seed }
    this.alpha = new SimulatedSite({ ...common, name: 'alpha', keys: [ring.root, ring.alpha[0] as StoredKey] })
    this.bravo = new SimulatedSite({ ...common, name: 'bravo', keys: [ring.bravo] })
    this.there = new SimulatedCarrier(this.alpha, this.bravo, this.chance)
  }

  async begin(): Promise<void> {
    await this.alpha.enrol(buildPeer(this.bravo, [this.#ring.bravo]))
    await this.bravo.enrol(buildPeer(this.alpha, this.alpha.keys))
    for (const site of [this.alpha, this.bravo]) site.machine.root.syncAll()
  }

  async end(): Promise<void> {
    await this.alpha.end()
    await this.bravo.end()
    fs.rmSync(this.#home, { recursive: true, force: true })
  }

  /** One thing that may happen. */
  async step(): Promise<void> {
    const { chance: by } = this
    const [name, act] = by.pick(this.#happenings)
    this.eventLog.push(name)
    await act()
  }

  readonly #happenings: readonly (readonly [string, () => Promise<void>])[] = [
    ...repeatStep(6, 'send', () => this.#perhapsDying(this.alpha, () => this.#send())),
    ...repeatStep(4, 'publish', () => this.#perhapsDying(this.alpha, () => this.alpha.transport.rescan())),
    ...repeatStep(6, 'carry', async () => this.there.carry('faulty')),
    ...repeatStep(6, 'take in', () => this.#perhapsDying(this.bravo, () => this.bravo.transport.rescan())),
    ...repeatStep(2, 'repeat pending messages', () => this.#perhapsDying(this.alpha, () => this.repeatPending())),
    ['power cut at alpha', () => this.#cut(this.alpha)],
    ['power cut at bravo', () => this.#cut(this.bravo)],
    ['minutes pass', async () => this.pass(this.chance.below(20) * minute_ms)],
    ['days pass', async () => this.pass(this.chance.happens(0.1) ? 8 * 1_440 * minute_ms : 60 * minute_ms)],
    ['the clock jumps back', async () => this.setBack(this.chance.below(10) * minute_ms)],
    ['receipt', () => this.#perhapsDying(this.alpha, () => this.sendReceipt())],
    ['rotation', async () => this.#rotate()],
    ['the new key is pinned', async () => this.pinKeys()],
    ['backup', async () => this.#keepBackup()],
    ['restore', () => this.#restore()],
  ]

  pass(ms: number): void {
    this.clock.wall += ms
    this.clock.monotonic += ms
  }

  setBack(ms: number): void {
    this.clock.wall -= ms
  }

  async #send(): Promise<void> {
    const count = 1 + this.chance.below(4)
    const events = Array.from({ length: count }, () => `event-${this.#events++}`)
    for (const event of events) this.pending.set(event, this.chance.happens(0.25))
    await Promise.all(events.map((event) => this.#sendOne(event)))
  }

  async repeatPending(): Promise<void> {
    for (const event of [...this.pending.keys()]) await this.#sendOne(event)
  }

  async #sendOne(event_id: string): Promise<void> {
    const isOrdered = this.pending.get(event_id) === true
    const refuse = event_id.endsWith('7')
    const sent = await this.alpha.transport.send(
      {
        peer: 'bravo',
        event_id,
        kind: isOrdered ? 'result' : 'contribution',
        schema: 'consensus.contribution/1',
        body: { event_id, refuse },
        label: {
          policy: 'SITE',
          level: 'RESTRICTED',
          categories: [],
          releasable_to: ['tenant-bravo'],
          originator: 'tenant-alpha',
        },
        parent_block_ids: [],
      },
      sampleTrace,
    )
    this.sentMessages.set(event_id, { event_id, ...sent })
    this.pending.delete(event_id)
  }

  /** A process dies at some call within, or not. What it refuses is an answer; what it throws otherwise is a defect. */
  async #perhapsDying(site: SimulatedSite, act: () => Promise<void>): Promise<void> {
    if (this.chance.happens(0.4)) site.machine.fuse = this.chance.below(120)
    try {
      await act()
    } catch (error) {
      if (!site.machine.isDead && !isRefusal(error) && !(error instanceof ProcessDiedError)) throw error
    }
    if (!site.machine.isDead) {
      site.machine.fuse = undefined
      return
    }
    this.deaths += 1
    await site.restart(this.chance.happens(0.3) ? 'power' : 'killed')
  }

  async #cut(site: SimulatedSite): Promise<void> {
    this.deaths += 1
    await site.restart('power')
  }

  async sendReceipt(): Promise<void> {
    const receipt = await this.bravo.transport.oneWay.gapReceipt('alpha')
    await this.alpha.transport.oneWay.resendFor(receipt)
  }

  #rotate(): void {
    const next = this.#ring.alpha[this.#keysInUse]
    if (!next) return
    this.#keysInUse += 1
    this.alpha.keys.push(next)
  }

  pinKeys(): void {
    this.bravo.pinned.set('alpha', buildPeer(this.alpha, this.alpha.keys))
  }

  #keepBackup(): void {
    this.#backup = { bytes: this.alpha.backup(), sentMessages: new Set(this.sentMessages.keys()) }
  }

  /** By `platform store restore`: what was sent since is forgotten by alpha, and perhaps known to bravo. */
  async #restore(): Promise<void> {
    if (!this.#backup || !this.chance.happens(0.5)) return
    const { bytes, sentMessages } = this.#backup
    await this.#noteUnconfirmed()
    await this.alpha.restore(bytes)
    for (const [event, sent] of [...this.sentMessages]) {
      if (sentMessages.has(event)) continue
      this.forgotten.push(sent)
      this.sentMessages.delete(event)
    }
    await this.#perhapsDying(this.alpha, () => this.openEpoch())
  }

  /** Sent, while the process died before it could say so: what a restore makes of these alpha will send anew. */
  async #noteUnconfirmed(): Promise<void> {
    for (const event_id of this.pending.keys()) {
      const sent = await this.alpha.journal.findSent('filedrop/alpha/bravo', event_id)
      if (sent) this.forgotten.push({ event_id, msg_id: sent.msg_id, epoch: sent.epoch, seq: sent.seq })
    }
  }

  async openEpoch(): Promise<void> {
    const draft = await this.alpha.transport.oneWay.draftEpoch('bravo')
    // The keeper of the root keys writes down every signature: a site that was restored twice may not know it.
    this.#epoch = Math.max(draft.epoch, this.#epoch + 1)
    const bytes = Buffer.from(canonicalJson({ ...draft, epoch: this.#epoch, reason: 'restored' }))
    await this.alpha.transport.oneWay.openEpoch(await signWithKeys([this.#ring.root], 'epoch', bytes), () => [])
  }
}

function repeatStep(times: number, name: string, act: () => Promise<void>) {
  return Array.from({ length: times }, () => [name, act] as const)
}

function buildPeer(site: SimulatedSite, keys: readonly StoredKey[]): Peer {
  return pin.parse({
    name: site.name,
    tenant_id: site.tenant_id,
    keys: keys.map(({ public_key }) => public_key),
    ceiling: { policy: 'SITE', level: 'SECRET', categories: [], originator: site.tenant_id },
    enrolled: new Date(start_ms).toISOString(),
  })
}
