// A site with guidance that is attacked: two tenants, two levels, administrators, users, an agent service, a library, and doubles of models.
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { observations } from '../../../daemon/roles/gateway/guide/observation/model.ts'
import { type GuidanceWorld, startGuidanceWorld } from '../../roles/gateway/guidance-site.ts'
import { type ModelDouble, requestTools, sayText, startModelDouble } from '../../support/chat/model-double.ts'
import type { buildArtifact } from '../../support/guide/artifacts.ts'
import { type TokenHolder, waitUntil } from '../../support/site/test-site.ts'
import { settleGuidance } from './settle-guidance.ts'
import { type AttackStep, expandText, expandValue, type TranscriptNames } from './transcript.ts'

const high = { level: 'TOP_SECRET' }
const low = { level: 'UNCLASSIFIED' }

/** Mallory, mole and eve attack: of the label of the victims, of the lowest one, and of another tenant. */
export const people: Readonly<Record<AttackStep['by'], TokenHolder>> = {
  ada: { subject: 'ada', roles: ['admin'], clearance: high },
  ann: { subject: 'ann', roles: ['analyst'], clearance: high },
  bea: { subject: 'bea', roles: ['analyst'], clearance: high, tenant: 'tenant-b' },
  bob: { subject: 'bob', roles: ['analyst'], clearance: high },
  eve: { subject: 'eve', roles: ['analyst'], clearance: high, tenant: 'tenant-b' },
  lou: { subject: 'lou', roles: ['admin'], clearance: low },
  mallory: { subject: 'mallory', roles: ['analyst'], clearance: high },
  mole: { subject: 'mole', roles: ['analyst'], clearance: low },
  oscar: { subject: 'oscar', roles: ['operator'], clearance: high },
  otto: { subject: 'otto', roles: ['admin'], clearance: high, tenant: 'tenant-b' },
  svc: { subject: 'svc', roles: ['service'], clearance: high },
}

export type AttackedGuidance = GuidanceWorld & {
  readonly guideModel: ModelDouble
  /** Of objects that transcripts name. */
  readonly ids: Record<string, string>
  request(who: TokenHolder, line: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Performs a step, and returns the differences from its expectation. */
  perform(step: AttackStep, title: string): Promise<string[]>
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which tests compare
type Answer = { readonly status: number; readonly body: any }

export async function startAttackedGuidance(): Promise<AttackedGuidance> {
  // Syntheses use the same model, without tools.
  const guideModel = await startModelDouble(({ tools = [] }) => tools.length > 0)
  const guide = { model_url: guideModel.url, model: 'own' }
  const world = await startGuidanceWorld({ profile: { guide, proxy: {} } })
  const request: AttackedGuidance['request'] = async (who, line, body, headers = {}) => {
    const [method = '', at = ''] = line.split(' ')
    const sent = { token: await world.site.token(who), headers }
    const answer = await world.site.call('gateway', method as 'GET', at, body, sent)
    return { status: answer.status, body: answer.json }
  }
  const ids: Record<string, string> = {}
  let traces = 0
  const known = new Map<string, string>()
  const namesFor = (title: string): TranscriptNames => ({
    ids,
    now: world.site.clock.now(),
    trace(name) {
      const key = `${title} ${name}`
      const trace = known.get(key) ?? (++traces).toString(16).padStart(32, 'a')
      known.set(key, trace)
      return trace
    },
  })
  const attacked: AttackedGuidance = {
    ...{ ...world, guideModel, ids, request },
    perform: (step, title) => performStep(attacked, step, namesFor(title)),
    async end() {
      await world.end()
      await guideModel.close()
    },
  }
  await plantVictims(attacked)
  return attacked
}

async function performStep(world: AttackedGuidance, step: AttackStep, names: TranscriptNames): Promise<string[]> {
  const who = people[step.by]
  if ('say' in step) {
    world.guideModel.answerBy(...scriptOf(step.model, names), sayText('done'))
    const message = expandText(step.say, names, 0)
    return compareOutcomes(await world.request(who, 'POST /api/v1/guide/chat', { message }), step.outcomes)
  }
  const faults: string[] = []
  for (let n = 0; n < (step.times ?? 1); n += 1) {
    if ('ask' in step) {
      world.model.answerBy(...scriptOf(step.model, names, n), sayText('done'))
      world.service.answerWith(step.returns === undefined ? undefined : [{ type: 'text', text: step.returns }])
      const body = { message: expandText(step.ask, names, n), allow_changes: true }
      const traced =
        step.trace === undefined ? {} : { traceparent: `00-${expandText(step.trace, names, n)}-b7ad6b7169203331-01` }
      const answer = await world.request(who, 'POST /api/v1/chat', body, traced)
      if (step.outcomes) faults.push(...compareOutcomes(answer, step.outcomes))
      continue
    }
    const headers = expandValue(step.headers ?? {}, names, n) as Record<string, string>
    const body = step.body === undefined ? undefined : expandValue(step.body, names, n)
    const { status } = await world.request(who, expandText(step.send, names, n), body, headers)
    if (![step.status].flat().includes(status)) faults.push(`${step.send} is answered ${status}`)
  }
  return faults
}

function scriptOf(calls: readonly [string, unknown][] | undefined, names: TranscriptNames, n = 0) {
  if (!calls) return []
  const requests = calls.map(([name, input]) => ({ name, arguments: JSON.stringify(expandValue(input, names, n)) }))
  return [requestTools(...requests)]
}

function compareOutcomes({ status, body }: Answer, expected: readonly string[]): string[] {
  const outcomes = (body?.tool_calls ?? []).map(({ outcome }: { outcome: string }) => outcome)
  const isExpected = status === 200 && JSON.stringify(outcomes) === JSON.stringify(expected)
  return isExpected ? [] : [`the chat answers ${status} ${JSON.stringify(body?.tool_calls ?? body)}`]
}

/** That of what a caller of this tenant and level sends. */
export function labelOf(level: string, tenant = 'tenant-a') {
  return { categories: [], level, originator: tenant, policy: 'SITE', releasable_to: [tenant] }
}

/** Guidance, memories, conversations and snapshots of both tenants and levels, which no transcript may change. */
async function plantVictims(world: AttackedGuidance): Promise<void> {
  const { ids, site } = world
  await world.offer('agent')
  const put = async (name: string, ...[type, fields]: Parameters<typeof buildArtifact>) => {
    ids[name] = `artifact_${name.padEnd(32, '0')}`
    await world.put(ids[name], type, fields)
  }
  await put('front', 'PromptShim', { label: labelOf('UNCLASSIFIED') })
  await put('ofmaps', 'PromptShim', { service_name: 'maps', label: labelOf('UNCLASSIFIED') })
  await put('victim', 'FailurePattern', { service_name: 'maps', tool_name: 'echo', label: labelOf('TOP_SECRET') })
  await put('second', 'ToolPairingHint', { service_name: 'maps', tool_name: 'count', label: labelOf('TOP_SECRET') })
  await put('low', 'SpecFragment', { label: labelOf('UNCLASSIFIED') })
  await put('foreign', 'PromptShim', { tenant_id: 'tenant-b', label: labelOf('TOP_SECRET', 'tenant-b') })
  await put('proposed', 'ToolPairingHint', { status: 'proposed', actor: 'curator_auto', label: labelOf('TOP_SECRET') })
  await put('demoted', 'SpecFragment', { status: 'demoted', label: labelOf('TOP_SECRET') })
  await put('edited', 'SpecFragment', { label: labelOf('TOP_SECRET') })
  await world.request(people.ada, `PATCH /api/v1/guide/artifacts/${ids.edited}`, { notes: 'seen by ada' })
  await plantMemories(world)
  await waitUntil(async () => {
    site.clock.advance(1_000)
    site.wakeWorker('gateway', 'follow-artifacts')
    const { body } = await world.request(people.ada, 'GET /api/v1/guide/guidance?scope=l1')
    return (body.guide_guidance?.artifacts.length ?? 0) >= 5
  })
}

async function plantMemories(world: AttackedGuidance): Promise<void> {
  const { ids } = world
  const payload = { tool: 'echo', inputs: { scale: 1 }, outputs: {} }
  for (const [name, who] of [
    ['memory', 'ada'],
    ['foreign_memory', 'otto'],
    ['low_memory', 'lou'],
  ] as const) {
    const body = { event_type: 'tool_output', service: 'maps', payload }
    ids[name] = (await world.request(people[who], 'POST /api/v1/guide/memories', body)).body.memory_id
    const taken = await world.request(people[who], 'POST /api/v1/guide/graphs/outcome_graph/snapshot', {})
    ids[name.replace('memory', 'snapshot')] = taken.body.snapshots[0].snapshot_id
  }
  for (const [name, who] of [
    ['conversation', 'ann'],
    ['foreign_conversation', 'bea'],
  ] as const) {
    world.model.answerBy(requestTools({ name: 'maps__echo', arguments: '{"scale":2}' }), sayText('a secret of mine'))
    const trace = name === 'conversation' ? 'b'.repeat(32) : 'c'.repeat(32)
    const headers = { traceparent: `00-${trace}-b7ad6b7169203331-01` }
    const { body } = await world.request(people[who], 'POST /api/v1/chat', { message: 'where is the ship?' }, headers)
    ids[name] = body.conversation_id
    ids[`${name}_trace`] = trace
  }
  await settleGuidance(world.site)
  const { docs } = await world.site.store('gateway').list(observations, { limit: 100, fresh: true })
  ids.observed = docs.find(({ value }) => value.event_type === 'user_prompt')?.id ?? ''
  ids.artifact_count = String(await world.site.store('gateway').count(artifacts))
}
