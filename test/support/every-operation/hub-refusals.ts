// How the refusals of the hub that the walk does not show are brought about.
import { readEvents } from '../event-reader.ts'
import type { Heard } from '../http-exchange.ts'
import { mail, statusEvent } from './samples.ts'
import type { Stage } from './stage.ts'

type Fields = Readonly<Record<string, unknown>>

function post({ site, admin }: Stage, path: string, body: Fields): Promise<Heard> {
  return site.ask('hub', { method: 'POST', path: `/api/v2/hub/node/alpha/${path}`, token: admin, body })
}

/** The last of more streams than one caller may have open. */
async function oneStreamMore(stage: Stage, path: string): Promise<Heard> {
  const { site, admin: token } = stage
  const url = `http://127.0.0.1:${site.port('hub')}`
  const readers = await Promise.all(Array.from({ length: 32 }, () => readEvents(url, path, token)))
  const answer = await site.ask('hub', { method: 'GET', path, token })
  for (const reader of readers) reader.leave()
  await Promise.all(readers.map(({ ended }) => ended))
  return answer
}

export const hubRefusals = {
  async 'hub.feed.publish idempotency_mismatch'(stage: Stage) {
    await post(stage, 'feed', statusEvent('told'))
    return post(stage, 'feed', { ...statusEvent('told'), state: 'WITHDRAWN' })
  },
  'hub.feed.events rate_limited': (stage: Stage) => oneStreamMore(stage, '/api/v2/hub/feed/events'),
  async 'hub.message.deliver rate_limited'(stage: Stage) {
    await post(stage, 'message', { from: 'alpha', ...mail })
    return post(stage, 'message', { from: 'alpha', ...mail, seq: 2 })
  },
  'hub.message.events rate_limited': (stage: Stage) => oneStreamMore(stage, '/api/v2/hub/node/alpha/message/events'),
}
