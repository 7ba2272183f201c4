// The feed of commits: from audit records, in the order in which they were stored, from the place on where its reader stopped.
import { expect, test } from 'vitest'
import { demoteArtifact, promoteArtifact } from '../../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { admin, curator, emitter, lowAdmin, otherAdmin, setUpGuide } from '../guide-site.ts'

const stage = setUpGuide()

type FeedEvent = { readonly id: string; readonly event: string; readonly data: Readonly<Record<string, unknown>> }

/** Events of the feed for `who`, until there are enough of them. `onOpen`: once the first event is here. */
async function read(
  { who = admin, query = '', after = '', count = 1 },
  onOpen: () => Promise<unknown> = async () => undefined,
): Promise<FeedEvent[]> {
  // What was done before has an earlier time than the beginning of the feed.
  stage().site.clock.advance(1_000)
  const token = await stage().site.token({ ...who, lifetime_s: 86_400 })
  const ending = new AbortController()
  const headers = { authorization: `Bearer ${token}`, ...(after === '' ? {} : { 'last-event-id': after }) }
  const url = new URL(`/api/v1/guide/guidance/stream${query}`, stage().site.url('gateway'))
  const answer = await fetch(url, { headers, signal: ending.signal })
  expect(answer.status).toBe(200)
  let text = ''
  let isOpen = false
  try {
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (!isOpen && text.includes('event: begin')) {
        isOpen = true
        await onOpen()
      }
      const events = parse(text)
      if (events.length >= count) return events.slice(0, count)
    }
  } finally {
    ending.abort()
  }
  return parse(text)
}

const parse = (text: string): FeedEvent[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => ({
      id: /^id: (.*)$/m.exec(block)?.[1] ?? '',
      event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}'),
    }))
const describe = (events: readonly FeedEvent[]) =>
  events.map(({ event, data }) => (event === 'commit' ? `${data.action} ${data.after_version_id}` : event))

test('two quick changes of an artifact are two entries in their order, and a reader goes on after the last one', async () => {
  const id = await stage().propose()
  const events = await read({ count: 4 }, async () => {
    await promoteArtifact(stage().call, id, curator)
    await demoteArtifact(stage().call, id, { ...curator, rationale: 'it misleads' })
    await promoteArtifact(stage().call, id, curator)
  })
  expect(describe(events)).toEqual(['begin', `promote ${id}.2`, `demote ${id}.3`, `promote ${id}.4`])
  expect(events[2]?.data).toMatchObject({ actor: 'curator_auto', artifact_id: id, rationale: 'it misleads' })
  const rest = await read({ after: events[1]?.id ?? '', count: 3 })
  expect(describe(rest)).toEqual(['begin', `demote ${id}.3`, `promote ${id}.4`])
  // Also of a reader that was cut off before the first commit.
  expect(describe(await read({ after: events[0]?.id ?? '', count: 4 }))).toEqual(describe(events))
})

test('ten versions of one moment stay in their order', async () => {
  const id = await stage().propose()
  const events = await read({ count: 12 }, async () => {
    for (let at = 0; at < 11; at += 1) await promoteArtifact(stage().call, id, curator)
  })
  expect(describe(events).slice(1)).toEqual(Array.from({ length: 11 }, (_, at) => `promote ${id}.${at + 2}`))
})

test('a pause is an entry of every scope, and artifacts only of their own', async () => {
  const [ofMaps, ofTides] = [await stage().propose(), await stage().propose({ service_name: 'tides' })]
  const change = async () => {
    for (const id of [ofMaps, ofTides]) await promoteArtifact(stage().call, id, curator)
    stage().site.clock.advance(1)
    await stage().request(admin, 'POST', 'curator/pause', { rationale: 'an exercise' })
    await stage().request(admin, 'POST', 'curator/resume', { rationale: 'over' })
  }
  const events = await read({ query: '?scope=l3:tides', count: 4 }, change)
  expect(events.map(({ data }) => data.action)).toEqual([undefined, 'promote', 'pause_curator', 'resume_curator'])
  expect(events[1]?.data.artifact_id).toBe(ofTides)
})

test('entries of another tenant, or above the clearance, are not in it', async () => {
  const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: stage().site.tenant }
  const secret = await stage().propose({ label })
  const plain = await stage().propose()
  const change = async () => {
    await promoteArtifact(stage().call, secret, curator)
    await promoteArtifact(stage().call, plain, curator)
  }
  expect(describe(await read({ who: lowAdmin, count: 2 }, change))).toEqual(['begin', `promote ${plain}.2`])
  const other = await read({ who: otherAdmin, count: 2 }, async () => {
    await demoteArtifact(stage().call, plain, curator)
    await stage().request(otherAdmin, 'POST', 'curator/pause', { rationale: 'theirs' })
  })
  expect(other.map(({ data }) => data.action)).toEqual([undefined, 'pause_curator'])
})

test('it is for administrators alone, and refuses a scope that does not exist', async () => {
  expect((await stage().request(emitter, 'GET', 'guidance/stream')).status).toBe(403)
  expect((await stage().request(admin, 'GET', 'guidance/stream?scope=l9')).status).toBe(422)
})

test('a reader goes on after a restart of the site', async () => {
  const id = await stage().propose()
  const [, first] = await read({ count: 2 }, () => promoteArtifact(stage().call, id, curator))
  await demoteArtifact(stage().call, id, curator)
  await stage().site.restart()
  expect(describe(await read({ after: first?.id ?? '', count: 2 }))).toEqual(['begin', `demote ${id}.3`])
})
