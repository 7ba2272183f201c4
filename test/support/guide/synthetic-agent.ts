// An agent with known faults, on tools with known rules: it chooses an argument that fails, leaves out a tool that another one
// needs, and calls two tools in the wrong order. It follows guidance as structured data, most of the time.
import type { Artifact } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import type { LearnableObservation } from '../../../daemon/roles/gateway/guide/learning/trace-record.ts'
import type { SeededRandom } from '../random/seeded-random.ts'

type GuidanceItem<A> = A extends Artifact ? Pick<A, 'type' | 'content' | 'applicability'> : never
/** An artifact as an agent gets it. */
export type AttachedGuidance = GuidanceItem<Artifact>

type PlannedCall = { tool: string; arguments: Record<string, string | number> }
type Task = { readonly prompt: string; readonly plan: (random: SeededRandom) => PlannedCall[] }

/** `ledger/abort` is one that the agent never calls by itself. */
export const agent_tools = [
  ...['records/search', 'records/export', 'models/list', 'models/validate', 'models/publish'],
  ...['ledger/begin', 'ledger/commit', 'ledger/abort'],
] as const

const formats = ['csv', 'json', 'xml'] as const
const call = (tool: string, of: PlannedCall['arguments'] = {}): PlannedCall => ({ tool, arguments: of })

/** What the agent does by itself. */
const tasks: readonly Task[] = [
  {
    prompt: 'Export the quarterly report',
    plan: (random) => [
      call('records/search', { page: random.below(50) }),
      call('records/export', { format: random.pick(formats), rows: random.below(1_000) }),
    ],
  },
  {
    // It does not know that publishing needs a validation.
    prompt: 'Publish the trained model',
    plan: (random) => [
      call('models/list', { page: random.below(5) }),
      ...(random.happens(0.25) ? [call('models/validate')] : []),
      call('models/publish', { channel: random.pick(['beta', 'stable']) }),
    ],
  },
  {
    prompt: 'Commit the ledger entry',
    plan: (random) => {
      const inOrder = [call('ledger/begin'), call('ledger/commit', { amount: random.below(10_000) })]
      return random.happens(0.35) ? inOrder : inOrder.toReversed()
    },
  },
]

/** Failures by chance, whatever the agent does. */
const noise = 0.03
/** The agent does not obey always. */
const obedience = 0.9
const call_ms = 1_000

type RunOptions = {
  readonly random: SeededRandom
  readonly trace_id: string
  readonly now: number
  readonly guidance: readonly AttachedGuidance[]
  readonly isFaultless: boolean
}

/**
 * One trace, as the observations that the gateway would emit; it ends at the first failure. The choices of chance are drawn in the same order with and without
 * guidance, so that runs with the same seed differ by the guidance alone.
 */
export function runAgent({ random, trace_id, now, guidance, isFaultless }: RunOptions): LearnableObservation[] {
  const task = random.pick(tasks)
  const caller = random.pick(['ann', 'bob', 'eve'])
  const plan = task.plan(random)
  const obeys = random.happens(obedience)
  const isBroken = Array.from({ length: 8 }, () => random.happens(noise))
  const calls = obeys ? followGuidance(plan, guidance) : plan
  let at = now
  const observe = (
    event_type: LearnableObservation['event_type'],
    service: string,
    payload: LearnableObservation['payload'],
  ) => {
    at += call_ms
    const timestamp = new Date(at).toISOString()
    return {
      trace_id,
      event_type,
      service,
      timestamp,
      caller_identity: { username: caller, roles: ['analyst'] },
      payload,
    }
  }
  const done: string[] = []
  const observed: LearnableObservation[] = [observe('user_prompt', 'gateway', { prompt: task.prompt })]
  for (const [index, { tool: label, arguments: given }] of calls.entries()) {
    const [service = '', tool = ''] = label.split('/')
    const error =
      (isFaultless ? undefined : findError(label, given, done)) ?? (isBroken[index] ? 'the service is busy' : undefined)
    if (error !== undefined) {
      observed.push(observe('tool_error', service, { tool, inputs: given, error }))
      break
    }
    observed.push(observe('tool_output', service, { tool, inputs: given, outputs: {} }))
    done.push(label)
  }
  const outcome = observed.at(-1)?.event_type === 'tool_error' ? 'error' : 'success'
  return [...observed, observe('final_response', 'gateway', { outcome, response: 'done', tools: [] })]
}

/** The rules of the tools, which the agent does not know. */
function findError(tool: string, given: PlannedCall['arguments'], done: readonly string[]): string | undefined {
  if (tool === 'records/export' && given.format === 'xml') return 'unsupported format'
  if (tool === 'models/publish' && !done.includes('models/validate')) return 'the model is not validated'
  if (tool === 'ledger/commit' && !done.includes('ledger/begin')) return 'no open transaction'
  if (tool === 'ledger/commit' && done.includes('ledger/abort')) return 'the transaction was aborted'
  return undefined
}

function followGuidance(plan: readonly PlannedCall[], guidance: readonly AttachedGuidance[]): PlannedCall[] {
  let calls = plan.map(({ tool, arguments: given }) => ({ tool, arguments: { ...given } }))
  for (const { type, content } of guidance) {
    if (type === 'FailurePattern') calls = calls.map((of) => avoidValue(of, content))
    if (type === 'ToolPairingHint') calls = putBefore(calls, content)
  }
  return calls
}

type ContentOf<T extends Artifact['type']> = Extract<Artifact, { readonly type: T }>['content']

function avoidValue(of: PlannedCall, { tool, argument = '', value }: ContentOf<'FailurePattern'>): PlannedCall {
  if (of.tool !== tool || JSON.stringify(of.arguments[argument]) !== value) return of
  const other = formats.find((format) => JSON.stringify(format) !== value)
  return argument === 'format' && other ? { ...of, arguments: { ...of.arguments, format: other } } : of
}

function putBefore(calls: readonly PlannedCall[], { tool, next_tool }: ContentOf<'ToolPairingHint'>): PlannedCall[] {
  const at = calls.findIndex((of) => of.tool === next_tool)
  if (at < 0 || calls.slice(0, at).some((of) => of.tool === tool)) return [...calls]
  const [moved = call(tool)] = calls.filter((of) => of.tool === tool)
  const rest = calls.filter((of) => of !== moved)
  const before = rest.findIndex((of) => of.tool === next_tool)
  return [...rest.slice(0, before), moved, ...rest.slice(before)]
}
