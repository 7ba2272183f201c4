// The learning layer in simulated time: traces of an agent go through the operations and workers of the gateway over a store of
// their own, as recorded ones do in a replay.
import type { Doc } from '../../../daemon/kernel/store/store.ts'
import { GuideReplay } from '../../../daemon/offline/guide/replay-engine.ts'
import { promoteArtifact } from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { type Artifact, artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { attachGuidance } from '../../../daemon/roles/gateway/guide/guidance/attach.ts'
import { artifactEffects } from '../../../daemon/roles/gateway/guide/holdout/model.ts'
import { type LearnableObservation, readTrace } from '../../../daemon/roles/gateway/guide/learning/trace-record.ts'
import { stampObservation } from '../../../daemon/roles/gateway/guide/observation/rules.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { type AttachedGuidance, agent_tools, runAgent } from './synthetic-agent.ts'

export type ExperimentTerms = {
  readonly seed: number
  /** Traces before anything is attached, and after it. */
  readonly training: number
  readonly traces: number
  readonly isAttachEnabled: boolean
  readonly planted?: AttachedGuidance
  /** The tools take whatever the agent does, and fail by chance alone. */
  readonly isFaultless?: boolean
  /** Traces between two runs of the workers. */
  readonly tracesPerRun?: number
}

export type ExperimentResult = {
  /** Of each trace after learning. */
  readonly successes: readonly boolean[]
  readonly artifacts: readonly Artifact[]
  /** Traces that the planted artifact was eligible for until it was demoted; undefined: it was not. */
  readonly planted_traces: number | undefined
  /** Artifacts whose benefit was proven. */
  readonly proven: number
}

const tenant_id = 'alpha'
const labels = { policy: 'SITE', levels: ['LOW'] }
const label = { categories: [], level: 'LOW', originator: tenant_id, policy: 'SITE', releasable_to: [tenant_id] }
const caller = { subject: 'ann', clearance: { level: 'LOW', categories: [] } }
const trace_ms = 10_000

/** The same agent without anything of the layer: what it does by itself. */
export function runWithoutLayer({ seed, training, traces }: ExperimentTerms): readonly boolean[] {
  const random = seededRandom(seed)
  const all = Array.from({ length: training + traces }, (_, at) =>
    readTrace(runAgent({ random, ...{ trace_id: nameTrace(seed, at), now: at, guidance: [], isFaultless: false } })),
  )
  return all.slice(training).map(({ isSuccess }) => isSuccess)
}

export async function runExperiment(of: ExperimentTerms): Promise<ExperimentResult> {
  const settings = { guidance_attach_enabled: of.isAttachEnabled }
  const replay = new GuideReplay({ tenant_id, labels, settings })
  try {
    for (const tool of agent_tools) replay.offer(tool)
    return await run(replay, of)
  } finally {
    await replay.close()
  }
}

async function run(replay: GuideReplay, of: ExperimentTerms): Promise<ExperimentResult> {
  const { seed, training, traces, isFaultless = false, tracesPerRun = 10 } = of
  const random = seededRandom(seed)
  const runTrace = async (at: number) => {
    const trace_id = nameTrace(seed, at)
    replay.now_ms = (at + 1) * trace_ms
    const isLearnt = at >= training
    const block = isLearnt ? attachGuidance(replay.request(trace_id, caller), { scope: 'l2' }) : null
    const guidance = (block?.artifacts ?? []) as unknown as readonly AttachedGuidance[]
    const observed = runAgent({ random, trace_id, now: replay.now_ms, guidance, isFaultless })
    for (const each of observed) await replay.observe(stamp(each))
    replay.now_ms = (at + 2) * trace_ms - 1
    if (at % tracesPerRun === tracesPerRun - 1) await replay.work()
    return readTrace(observed).isSuccess
  }
  for (let at = 0; at < training; at += 1) await runTrace(at)
  await replay.work()
  const planted = of.planted ? await plant(replay, of.planted) : undefined
  const successes: boolean[] = []
  let planted_traces: number | undefined
  for (let at = training; at < training + traces && planted_traces === undefined; at += 1) {
    successes.push(await runTrace(at))
    if (planted !== undefined && of.isAttachEnabled) planted_traces = await countUntilDemoted(replay, planted)
  }
  await replay.work()
  const { docs } = await replay.worker().store(artifacts).list({ limit: 500 })
  const effects = await replay.worker().store(artifactEffects).list({ limit: 500 })
  const proven = effects.docs.filter(({ value }) => value.verdict === 'benefit').length
  return { successes, planted_traces, proven, artifacts: docs.map(({ value }) => value) }
}

function nameTrace(seed: number, at: number): string {
  return (seed * 1_000_000 + at + 1).toString(16).padStart(32, '0')
}

function stamp(event: LearnableObservation) {
  const { username, roles } = event.caller_identity
  const emitted_by = { token_subject: username, token_roles: roles, context: 'in_process' as const }
  const fields = { ...event, tenant_id, label, parent_trace_id: null, conversation_id: '', emitted_by }
  return stampObservation(fields, Date.parse(event.timestamp), new Set())
}

/** As an administrator would: proposed by hand, and promoted. */
async function plant(replay: GuideReplay, { type, content, applicability }: AttachedGuidance): Promise<string> {
  const ground = { actor: 'admin:eve', trigger: 'admin_manual' } as const
  const draft = { ...{ tenant_id, label, type, content, applicability }, rationale: 'planted by hand', key: 'planted' }
  const proposed = (await proposeArtifact(replay.worker(), draft, ground)) as { readonly doc: Doc<Artifact> }
  await promoteArtifact(replay.worker(), proposed.doc.id, ground)
  await replay.work()
  return proposed.doc.id
}

async function countUntilDemoted(replay: GuideReplay, id: string): Promise<number | undefined> {
  const { value } = await replay.worker().store(artifacts).get(id)
  if (value.status === 'active') return undefined
  const effect = await replay.worker().store(artifactEffects).get(id)
  return effect.value.attached.trials + effect.value.held_out.trials
}
