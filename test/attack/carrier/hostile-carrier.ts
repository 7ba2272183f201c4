// A carrier without keys between two real sites: it holds three genuine messages of alpha, and writes what it likes at bravo.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { QuarantineReason } from '../../../adapters/transport/filedrop/quarantine-reasons.ts'
import type { ChannelStatus } from '../../../daemon/kernel/messaging/channel-status.ts'
import {
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'

export const day_ms = 86_400_000

export type CarrierParcel = { readonly stem: string; readonly env: Buffer; readonly body: Buffer }

export type HostileCarrier = {
  readonly sites: FiledropSites
  /** The messages 1, 2 and 3 as alpha published them. */
  readonly parcels: readonly [CarrierParcel, CarrierParcel, CarrierParcel]
  /** Bravo's `in/new`. */
  readonly fresh: string
  /** A folder that belongs to the carrier alone. */
  readonly elsewhere: string
  put(name: string | Buffer, content: string | Buffer): void
  /** Delivers the parcel, with what is changed. */
  deliver(parcel: CarrierParcel, change?: Partial<CarrierParcel>): void
  path(parcel: CarrierParcel, part: 'env' | 'body'): string
  scan(): Promise<void>
  /** Lets time pass at both sites; bravo scans before and after. */
  wait(ms: number): Promise<void>
}

/** One attack as data. What holds after each of them without a word here: see carrier.test.ts. */
export type CarrierAttack = {
  readonly name: string
  readonly act: (carrier: HostileCarrier) => Promise<unknown> | unknown
  /** Numbers that bravo has applied when the attack is over. */
  readonly applied: readonly number[]
  /** Reasons in bravo's quarantine; none by default. */
  readonly quarantined?: readonly QuarantineReason[]
  /** Of bravo's end of the channel; open by default. */
  readonly channel?: ChannelStatus['state']
  /** Actions of audit records or names of error events that name the attack, besides those of the quarantine. */
  readonly alarms?: readonly string[]
  /** What an operator does before the channel can go on. */
  readonly repair?: (carrier: HostileCarrier) => Promise<unknown> | unknown
  /** Numbers that bravo has applied after an honest carrier brought everything; all three by default. */
  readonly recovered?: readonly number[]
}

export async function startHostileCarrier(sites: FiledropSites): Promise<HostileCarrier> {
  await sendFromAlpha(sites, 3)
  const { fresh } = listChannelFolders(sites.bravo, 'alpha')
  const elsewhere = join(sites.dir, 'carrier')
  fs.mkdirSync(elsewhere, { mode: 0o700 })
  const carrier: HostileCarrier = {
    sites,
    parcels: [takeParcel(sites, 1), takeParcel(sites, 2), takeParcel(sites, 3)],
    fresh,
    elsewhere,
    put: (name, content) => fs.writeFileSync(pathOf(fresh, name), content),
    deliver(parcel, change = {}) {
      const { stem, env, body } = { ...parcel, ...change }
      carrier.put(`${stem}.body.json`, body)
      carrier.put(`${stem}.env.json`, env)
    },
    path: ({ stem }, part) => join(fresh, `${stem}.${part}.json`),
    scan: () => sites.bravo.transport.rescan(),
    async wait(ms) {
      await carrier.scan()
      sites.clock.ms += ms
      await carrier.scan()
    },
  }
  return carrier
}

/** A name may be bytes that are not text. */
function pathOf(folder: string, name: string | Buffer): string | Buffer {
  return typeof name === 'string' ? join(folder, name) : Buffer.concat([Buffer.from(`${folder}/`), name])
}

function takeParcel(sites: FiledropSites, seq: number): CarrierParcel {
  const stem = formatStem(seq)
  const read = (part: string) => fs.readFileSync(join(formatReadyPath(sites.alpha, 'bravo'), `${stem}.${part}.json`))
  return { stem, env: read('env'), body: read('body') }
}

export function formatStem(seq: number, epoch = 1): string {
  return `${String(epoch).padStart(8, '0')}-${String(seq).padStart(16, '0')}`
}

type Envelope = { payload: string; signatures: { protected: string; signature: string }[] }

/** The parcel's envelope with changes to its members. */
export function alterEnvelope({ env }: CarrierParcel, change: (envelope: Envelope) => unknown): Buffer {
  return Buffer.from(JSON.stringify(change(JSON.parse(env.toString('utf8')) as Envelope)))
}
