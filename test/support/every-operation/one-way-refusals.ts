// Scenarios for declared refusals on one-way links, where people carry the evidence.
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import type { ExactResponse } from '../http/send-exact-request.ts'
import {
  freezePeer,
  openDeltaSite,
  signBravoInventory,
  signDeltaKeysMessage,
  signEpochAnnouncement,
  signFirstKeySet,
  signGapReceipt,
} from './carried-messages.ts'
import { type OperationFixture, secretLabel } from './operation-fixture.ts'
import { tokenFor } from './post-request.ts'

function postToSite(stage: OperationFixture, of: string, body: unknown): Promise<ExactResponse> {
  const path = `/api/v2/site/${of}`
  return stage.site.request('site', { method: 'POST', path, token: tokenFor(stage, path), body })
}

const minute_ms = 60_000

/** Asks again and again while a carrier takes all that lies there for bravo, until enough has been sent again. */
function retryUntilLimited({ site }: OperationFixture, ask: () => Promise<ExactResponse>): Promise<ExactResponse> {
  const ready = path.join(site.folder.filedrop, 'bravo/out/ready')
  const until429 = async () => {
    for (const name of readdirSync(ready)) rmSync(path.join(ready, name), { force: true })
    const answer = await ask()
    expect(answer.status, answer.text).toBe(429)
    return answer
  }
  return vi.waitFor(until429, { timeout: 60_000 })
}

const firstNumber = { first: 1, last: 1 }

export const oneWayRefusals: Readonly<Record<string, (stage: OperationFixture) => Promise<ExactResponse>>> = {
  async 'site.keyset.take signature_invalid'(stage) {
    const { payload } = await signFirstKeySet(await openDeltaSite(stage), Date.now() + minute_ms)
    const { signatures } = await signFirstKeySet(await openDeltaSite(stage))
    return postToSite(stage, 'keyset', await signDeltaKeysMessage(stage, { payload, signatures }))
  },
  async 'site.keyset.take label_denied'(stage) {
    const tooHigh = { label: { ...secretLabel, level: 'TOP_SECRET' } }
    return postToSite(
      stage,
      'keyset',
      await signDeltaKeysMessage(stage, await signFirstKeySet(await openDeltaSite(stage)), tooHigh),
    )
  },
  async 'site.keyset.take already_exists'(stage) {
    const [one, other] = [
      await signFirstKeySet(await openDeltaSite(stage)),
      await signFirstKeySet(await openDeltaSite(stage), Date.now() + minute_ms),
    ]
    const taken = await postToSite(stage, 'keyset', await signDeltaKeysMessage(stage, one))
    expect(taken.status, taken.text).toBe(200)
    return postToSite(stage, 'keyset', await signDeltaKeysMessage(stage, other))
  },
  'site.channel.unfreeze conflict': (stage) => postToSite(stage, 'channel/bravo/unfreeze', { reason: 'sample' }),
  async 'site.peerhead.take signature_invalid'(stage) {
    const { envelope } = await signBravoInventory(stage)
    return postToSite(stage, 'peerhead', {
      ...(await signBravoInventory(stage)),
      envelope: { ...envelope, payload: 'e30' },
    })
  },
  async 'site.peerhead.take label_denied'(stage) {
    return postToSite(
      stage,
      'peerhead',
      await signBravoInventory(stage, { label: { ...secretLabel, level: 'TOP_SECRET' } }),
    )
  },
  'site.message.resend not_found': (stage) => postToSite(stage, 'message/resend', { peer: 'nobody', ...firstNumber }),
  'site.message.resend rate_limited': (stage) =>
    retryUntilLimited(stage, () => postToSite(stage, 'message/resend', { peer: 'bravo', ...firstNumber })),
  'site.message.list not_found': ({ site, admin }) =>
    site.request('site', { method: 'GET', path: '/api/v2/site/message?peer=nobody', token: admin }),
  'site.message.discard not_found': (stage) =>
    postToSite(stage, 'message/discard', { peer: 'nobody', ...firstNumber, reason: 'sample' }),
  async 'site.message.discard conflict'(stage) {
    return postToSite(stage, 'message/discard', { peer: await freezePeer(stage), ...firstNumber, reason: 'sample' })
  },
  'site.gap.skip not_found': (stage) =>
    postToSite(stage, 'gap/skip', { peer: 'nobody', ...firstNumber, reason: 'sample' }),
  async 'site.gap.skip conflict'(stage) {
    return postToSite(stage, 'gap/skip', { peer: await freezePeer(stage), ...firstNumber, reason: 'sample' })
  },
  'site.gap.receipt not_found': (stage) => postToSite(stage, 'gap/receipt', { peer: 'nobody' }),
  async 'site.gap.resend signature_invalid'(stage) {
    const { payload } = await signGapReceipt(stage)
    const receipt = await stage.site.bravo.sign('evidence', Buffer.from(payload, 'base64url'))
    return postToSite(stage, 'gap/resend', { receipt })
  },
  async 'site.gap.resend rate_limited'(stage) {
    const receipt = await signGapReceipt(stage)
    return retryUntilLimited(stage, () => postToSite(stage, 'gap/resend', { receipt }))
  },
  'site.epoch.draft not_found': ({ site, admin }) =>
    site.request('site', { method: 'GET', path: '/api/v2/site/epoch?peer=nobody', token: admin }),
  async 'site.epoch.open not_found'(stage) {
    return postToSite(stage, 'epoch', { announcement: await signEpochAnnouncement(stage, { dst: 'nobody' }) })
  },
  async 'site.epoch.open signature_invalid'(stage) {
    return postToSite(stage, 'epoch', { announcement: await signEpochAnnouncement(stage, {}, 'bravo') })
  },
  async 'site.epoch.open conflict'(stage) {
    return postToSite(stage, 'epoch', { announcement: await signEpochAnnouncement(stage, { epoch: 1 }) })
  },
}
