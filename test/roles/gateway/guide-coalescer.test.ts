// The coalescer: groups of similar artifacts become proposals, within tenant, label, type, service and model.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ChatModel } from '../../../daemon/kernel/model/chat-model.ts'
import { promoteArtifact } from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { finishAll } from '../../../daemon/roles/gateway/guide/artifact/finish-changes.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { type ArtifactDraft, proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { coalesce, coalesceArtifacts } from '../../../daemon/roles/gateway/guide/coalescer/coalesce.ts'
import { proposals } from '../../../daemon/roles/gateway/guide/proposal/model.ts'
import { openGuideStore } from '../../simulation/guide/open-guide-store.ts'
import { pairingDraft } from '../../support/guide/drafts.ts'
import { createGuideCall, type GuideCallOptions, localEmbedder } from '../../support/guide/guide-call.ts'

const ground = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const
let opened: ReturnType<typeof openGuideStore>
let ids: number
beforeEach(() => {
  opened = openGuideStore()
  ids = 0
})
afterEach(() => opened.end())

const open = (options: Partial<GuideCallOptions> = {}) => {
  const random = (bytes: number) => (++ids).toString(16).padStart(bytes * 2, '0')
  return createGuideCall({ store: opened.store, now: () => 1_000, random, ...options })
}

async function activate(hint: string, changes: Partial<ArtifactDraft> = {}, options: Partial<GuideCallOptions> = {}) {
  const content = { ...pairingDraft().content, hint }
  const proposed = await proposeArtifact(open(options), pairingDraft({ content, ...changes }), ground)
  if (isRefusal(proposed)) throw proposed
  const promoted = await promoteArtifact(open(options), proposed.doc.id, ground)
  if (isRefusal(promoted)) throw promoted
  return proposed.doc.id
}

const openProposals = async () =>
  (await opened.store.list(proposals, { filter: { status: 'open' }, limit: 100 })).docs.map(({ value }) => value)

test('a group becomes one proposal that supersedes its members, with the evidence of all', async () => {
  const first = await activate('Call maps/find before maps/show, always.', { confidence: 0.9, weight: 4 })
  const second = await activate('Call maps/find before maps/show always', {
    confidence: 0.6,
    applicability: { tags: ['b'] },
  })
  await activate('Something else entirely: the invoice needs a currency first.', { service_name: 'money' })
  expect([await coalesceArtifacts(open()), await coalesceArtifacts(open())]).toEqual([1, 0])
  const [proposal, ...others] = await openProposals()
  expect(others).toEqual([])
  expect(proposal).toMatchObject({ supersedes: [first, second].toSorted(), confidence: 0.6, weight: 4 })
  const id = proposal?.artifact_id ?? ''
  const merged = (await opened.store.get(artifacts, id))?.value
  expect(merged).toMatchObject({ status: 'proposed', actor: 'curator_auto', applicability: { tags: ['maps', 'b'] } })
  expect(merged?.content).toMatchObject({
    support: 24,
    success_rate: 0.9,
    hint: 'Call maps/find before maps/show, always.',
  })
  await promoteArtifact(open(), id, ground)
  await finishAll(open())
  expect((await opened.store.get(artifacts, first))?.value).toMatchObject({ status: 'demoted', superseded_by: id })
})

test('artifacts of different tenants, labels, services, tools or models are never merged', async () => {
  const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' }
  const hint = 'Call maps/find before maps/show, always.'
  await activate(hint)
  await activate(hint, { tenant_id: 'bravo' })
  await activate(hint, { label })
  await activate(hint, { service_name: 'other' })
  await activate(hint, { tool_name: 'find' })
  await activate(hint, {}, { embedder: { ...localEmbedder, name: 'another-model' } })
  expect(await coalesceArtifacts(open())).toBe(0)
})

test('one run proposes as many mergers as it may, and the next one the others', async () => {
  for (const service_name of ['a', 'b', 'c'])
    for (const end of ['.', '!']) await activate(`Call maps/find before maps/show${end}`, { service_name })
  const settings = { coalescer_max_clusters_per_run: 2 }
  expect([await coalesceArtifacts(open({ settings })), await coalesceArtifacts(open({ settings }))]).toEqual([2, 1])
})

test('an artifact without a vector, or of a paused curator, is left out', async () => {
  const broken = { name: 'gone', embed: () => Promise.reject(new Error('down')) }
  const events: string[] = []
  const onEvent = (event: string) => void events.push(event)
  for (let at = 0; at < 2; at += 1) await activate('The same.', {}, { embedder: broken, onEvent })
  expect(events).toContain('gateway.guide.embedding.failed')
  expect(await coalesceArtifacts(open())).toBe(0)
})

test('a model of the layer gives the merged words; names, figures and the list are those of the rules', async () => {
  const members = [
    await activate('Call maps/find before maps/show, always.'),
    await activate('Call maps/find before maps/show always'),
  ]
  const [model, requests] = saying('{"text": "Find before you show.\\u202e"}')
  expect([await coalesceArtifacts(open({ model })), await coalesceArtifacts(open({ model }))]).toEqual([1, 0])
  const [proposal] = await openProposals()
  expect(proposal?.supersedes).toEqual(members.toSorted())
  const merged = (await opened.store.get(artifacts, proposal?.artifact_id ?? ''))?.value
  expect(merged?.content).toMatchObject({ hint: 'Find before you show.\\u202e', support: 24, tool: 'maps/find' })
  expect(requests).toHaveLength(1)
  expect(requests[0]).toContain('Call maps/find before maps/show, always.')
})

test.each([
  ['answers rubbish', 'I promote everything'],
  ['answers with another form', '{"text": {"promote": "all"}}'],
  ['answers nothing', '{"text": " "}'],
  ['floods', JSON.stringify({ text: 'x'.repeat(9_000) })],
  ['fails', undefined],
])('a model that %s merges nothing; the failure is counted, and the next run tries again', async (_, answer) => {
  await activate('Call maps/find before maps/show, always.')
  await activate('Call maps/find before maps/show always')
  const events: string[] = []
  const onEvent = (event: string) => void events.push(event)
  expect(await coalesceArtifacts(open({ model: saying(answer)[0], onEvent }))).toBe(0)
  expect(events).toEqual(['gateway.guide.coalescer.merge-failed'])
  expect(await openProposals()).toEqual([])
  expect(await coalesceArtifacts(open({ model: saying('{"text": "merged"}')[0] }))).toBe(1)
})

test('without a budget left the model is not requested, and nothing has failed', async () => {
  await activate('Call maps/find before maps/show, always.')
  await activate('Call maps/find before maps/show always')
  const [model, requests] = saying('{"text": "merged"}')
  const events: string[] = []
  expect(await coalesceArtifacts(open({ model, budget: 0, onEvent: (event) => void events.push(event) }))).toBe(0)
  expect([requests, events]).toEqual([[], []])
})

/** A script in place of a model; the second: the data of each request. Undefined: it fails. */
function saying(text: string | undefined): [ChatModel, string[]] {
  const requests: string[] = []
  const model: ChatModel = {
    // biome-ignore lint/correctness/useYield: it has no parts
    async *answer({ messages }) {
      requests.push(messages.at(-1)?.text ?? '')
      if (text === undefined) throw refuse('unavailable', 'down')
      return { text, tool_calls: [], tokens: undefined }
    },
  }
  return [model, requests]
}

test('a sweep comes once in its interval, where it is turned on', async () => {
  let now = 1_000
  const settings = { coalescer_enabled: true, coalescer_interval: 3_600 }
  const call = open({ now: () => now, settings })
  const sweep = async () => {
    await coalesce.run(call)
    return (await openProposals()).length
  }
  const alike = async (name: string) => {
    for (const end of ['', '!']) await activate(`Call maps/find before maps/show, always${end}`, { tool_name: name })
  }
  await alike('first')
  await coalesce.run(open({ now: () => now, settings: { ...settings, coalescer_enabled: false } }))
  expect([(await openProposals()).length, await sweep()]).toEqual([0, 1])
  await alike('second')
  now += 3_599_000
  expect(await sweep()).toBe(1)
  now += 1_000
  expect(await sweep()).toBe(2)
})
