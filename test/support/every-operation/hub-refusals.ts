// Scenarios for declared refusals of the hub that the walk does not cover.
import { openEventReader } from '../http/event-reader.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import type { OperationFixture } from './operation-fixture.ts'
import { buildStatusEvent, sampleMail } from './operation-samples.ts'

type RequestFields = Readonly<Record<string, unknown>>

function postToNode({ site, admin }: OperationFixture, path: string, body: RequestFields): Promise<ExactResponse> {
  return site.request('hub', { method: 'POST', path: `/api/v2/hub/node/alpha/${path}`, token: admin, body })
}

/** The last of more streams than one caller may have open. */
export async function openTooManyStreams(stage: OperationFixture, path: string, role = 'hub'): Promise<ExactResponse> {
  const { site, admin: token } = stage
  const url = `http://127.0.0.1:${site.port(role)}`
  const readers = await Promise.all(Array.from({ length: 32 }, () => openEventReader(url, path, token)))
  const answer = await site.request(role, { method: 'GET', path, token })
  for (const reader of readers) reader.close()
  await Promise.all(readers.map(({ ended }) => ended))
  return answer
}

export const hubRefusals = {
  async 'hub.feed.publish idempotency_mismatch'(stage: OperationFixture) {
    await postToNode(stage, 'feed', buildStatusEvent('reported'))
    return postToNode(stage, 'feed', { ...buildStatusEvent('reported'), state: 'WITHDRAWN' })
  },
  'hub.feed.events rate_limited': (stage: OperationFixture) => openTooManyStreams(stage, '/api/v2/hub/feed/events'),
  async 'hub.message.deliver rate_limited'(stage: OperationFixture) {
    await postToNode(stage, 'message', { from: 'alpha', ...sampleMail })
    return postToNode(stage, 'message', { from: 'alpha', ...sampleMail, seq: 2 })
  },
  'hub.message.events rate_limited': (stage: OperationFixture) =>
    openTooManyStreams(stage, '/api/v2/hub/node/alpha/message/events'),
}
