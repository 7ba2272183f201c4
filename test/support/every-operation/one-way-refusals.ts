// How the refusals of what people carry where nothing comes back by itself are brought about.
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import type { Heard } from '../http-exchange.ts'
import { announced, delta, firstKeySet, gapReceipt, toldByBravo, toldByDelta } from './carried.ts'
import { label, type Stage } from './stage.ts'

function post({ site, admin }: Stage, of: string, body: unknown): Promise<Heard> {
  return site.ask('site', { method: 'POST', path: `/api/v2/site/${of}`, token: admin, body })
}

const minute_ms = 60_000

/** Asks again and again while a carrier takes all that lies there for bravo, until enough has been sent again. */
function paced({ site }: Stage, ask: () => Promise<Heard>): Promise<Heard> {
  const ready = path.join(site.folder.filedrop, 'bravo/out/ready')
  const until429 = async () => {
    for (const name of readdirSync(ready)) rmSync(path.join(ready, name), { force: true })
    const answer = await ask()
    expect(answer.status, answer.text).toBe(429)
    return answer
  }
  return vi.waitFor(until429, { timeout: 60_000 })
}

const first = { first: 1, last: 1 }

export const oneWay: Readonly<Record<string, (stage: Stage) => Promise<Heard>>> = {
  async 'site.keyset.take signature_invalid'(stage) {
    const { payload } = await firstKeySet(await delta(stage), Date.now() + minute_ms)
    const { signatures } = await firstKeySet(await delta(stage))
    return post(stage, 'keyset', await toldByDelta(stage, { payload, signatures }))
  },
  async 'site.keyset.take label_denied'(stage) {
    const tooHigh = { label: { ...label, level: 'TOP_SECRET' } }
    return post(stage, 'keyset', await toldByDelta(stage, await firstKeySet(await delta(stage)), tooHigh))
  },
  async 'site.keyset.take already_exists'(stage) {
    const [one, other] = [
      await firstKeySet(await delta(stage)),
      await firstKeySet(await delta(stage), Date.now() + minute_ms),
    ]
    const taken = await post(stage, 'keyset', await toldByDelta(stage, one))
    expect(taken.status, taken.text).toBe(200)
    return post(stage, 'keyset', await toldByDelta(stage, other))
  },
  'site.channel.unfreeze conflict': (stage) => post(stage, 'channel/bravo/unfreeze', { reason: 'sample' }),
  async 'site.peerhead.take signature_invalid'(stage) {
    const { envelope } = await toldByBravo(stage)
    return post(stage, 'peerhead', { ...(await toldByBravo(stage)), envelope: { ...envelope, payload: 'e30' } })
  },
  async 'site.peerhead.take label_denied'(stage) {
    return post(stage, 'peerhead', await toldByBravo(stage, { label: { ...label, level: 'TOP_SECRET' } }))
  },
  'site.message.resend not_found': (stage) => post(stage, 'message/resend', { peer: 'nobody', ...first }),
  'site.message.resend rate_limited': (stage) =>
    paced(stage, () => post(stage, 'message/resend', { peer: 'bravo', ...first })),
  'site.gap.receipt not_found': (stage) => post(stage, 'gap/receipt', { peer: 'nobody' }),
  async 'site.gap.resend signature_invalid'(stage) {
    const { payload } = await gapReceipt(stage)
    const receipt = await stage.site.bravo.sign('evidence', Buffer.from(payload, 'base64url'))
    return post(stage, 'gap/resend', { receipt })
  },
  async 'site.gap.resend rate_limited'(stage) {
    const receipt = await gapReceipt(stage)
    return paced(stage, () => post(stage, 'gap/resend', { receipt }))
  },
  'site.epoch.draft not_found': ({ site, admin }) =>
    site.ask('site', { method: 'GET', path: '/api/v2/site/epoch?peer=nobody', token: admin }),
  async 'site.epoch.open not_found'(stage) {
    return post(stage, 'epoch', { announcement: await announced(stage, { dst: 'nobody' }) })
  },
  async 'site.epoch.open signature_invalid'(stage) {
    return post(stage, 'epoch', { announcement: await announced(stage, {}, 'bravo') })
  },
  async 'site.epoch.open conflict'(stage) {
    return post(stage, 'epoch', { announcement: await announced(stage, { epoch: 1 }) })
  },
}
