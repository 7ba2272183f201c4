// What every call of a role is surrounded by, put together from the adapters and from what the site role does for others.
import * as z from 'zod'
import type { Log, PartKey, Site, Surroundings } from '../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../kernel/errors.ts'
import { jws, publicKey } from '../kernel/keys.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Resolved } from '../kernel/settings.ts'
import { list as listKeys } from '../roles/site/key/list.ts'
import { verifiedMessage } from '../roles/site/message/model.ts'
import { send } from '../roles/site/message/send.ts'
import { verify } from '../roles/site/message/verify.ts'
import { crossing } from '../roles/site/peer/crossing.ts'
import { create as sign } from '../roles/site/signature/create.ts'
import type { Ask } from './asking.ts'
import type { Bus } from './bus.ts'
import { valuesOf } from './profile.ts'

export type Parts = ReadonlyMap<string, unknown>

export type Materials = {
  readonly role: string
  readonly site: Site
  readonly log: Log
  readonly settings: Resolved
  readonly metrics: Metrics
  readonly bus: Bus
  readonly ask: Ask
  readonly parts: Parts
  readonly now: () => number
  readonly monotonic: () => number
  readonly random: (bytes: number) => string
  readonly wake: (worker: string) => void
}

const crossed = z.object({ allowed: z.boolean(), reason: z.string() })

export function surroundings(given: Materials): Surroundings {
  const { ask, metrics, bus, parts } = given
  return {
    site: given.site,
    log: given.log,
    now: given.now,
    monotonic: given.monotonic,
    random: given.random,
    settings: (of) => valuesOf(given.settings, of),
    async sign(type, payload) {
      return jws.parse(await ask(sign, { type, payload: Buffer.from(payload).toString('base64url') }))
    },
    publicKeys: async () =>
      z.object({ items: z.array(publicKey) }).parse(await ask(listKeys, { use: 'message' })).items,
    async verifyFromPeer(peer, type, envelope) {
      const found = await orRefused(ask(verify, { peer, type, envelope }))
      if (isRefused(found)) return found
      const { payload, keys } = verifiedMessage.parse(found)
      return { payload: new Uint8Array(Buffer.from(payload, 'base64url')), keys }
    },
    async send(message) {
      await ask(send, message)
    },
    async mayCross(name, label) {
      const { allowed, reason } = crossed.parse(await ask(crossing, { name, label }))
      return allowed ? undefined : refuse('label_denied', `it may not go to ${name}: ${reason}`)
    },
    announce: bus.announce,
    changes: bus.changes,
    wake: given.wake,
    count: metrics.count,
    set: metrics.set,
    observe: metrics.observe,
    ask,
    part: <P>(key: PartKey<P>): P => {
      if (!parts.has(key.name)) throw new TypeError(`the role ${given.role} was given no part "${key.name}"`)
      return parts.get(key.name) as P
    },
  }
}

async function orRefused(asked: Promise<unknown>): Promise<unknown | Refused> {
  try {
    return await asked
  } catch (error) {
    if (isRefused(error) && !error.row.retryable) return error
    throw error
  }
}
