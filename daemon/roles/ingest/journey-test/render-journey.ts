// Renders a journey test as an assembled DAG: a task for each hop, and one for each verification.
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import type { AssembledDag, DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'
import { testCall } from '../operator/test-call.ts'
import { verifyResponseJson } from '../operator/verify-response-json.ts'
import { referencesOf } from './hop.ts'
import { type Journey, journey } from './journey.ts'
import type { JsonValue } from './key-path.ts'

/** Beyond the time of repetitions: to connect, and for the last answer. */
const margin_s = 1_200
const verification_limit_s = 600

/** A request may have had its effect: none is repeated by itself. */
const once = { retries: 0, retry_delay_s: 1 }

/** Undefined where the text is not JSON. */
export function renderJourney(text: string): { readonly dag: AssembledDag } | { readonly fault: DagFault } | undefined {
  const value = parseJson(text)
  if (value === undefined) return undefined
  const parsed = parseWithSchema(journey, value)
  if (!parsed.success) return { fault: parsed.errors[0] ?? { path: '', message: 'is not a journey test' } }
  const [fault] = listJourneyFaults(parsed.data)
  return fault ? { fault } : { dag: buildDag(parsed.data) }
}

function listJourneyFaults({ hops, verifications }: Journey): DagFault[] {
  const faults: DagFault[] = []
  const known = new Set<string>()
  for (const [at, hop] of hops.entries()) {
    if (known.has(hop.name)) faults.push({ path: `hops.${at}.name`, message: `another hop is called ${hop.name}` })
    const unknown = referencesOf(hop).find((reference) => !known.has(reference.hop))
    if (unknown)
      faults.push({
        path: `hops.${at}.${hop.rest ? 'rest' : 'mcp'}`,
        message: `takes a value of ${unknown.hop}, which is not a hop before it`,
      })
    known.add(hop.name)
  }
  const names = new Set(known)
  for (const [at, { hop }] of verifications.entries()) {
    if (!known.has(hop))
      faults.push({ path: `verifications.${at}.hop`, message: `names ${hop}, which is not a hop of the journey` })
    const name = nameVerification(verifications, at)
    if (names.has(name)) faults.push({ path: `verifications.${at}.name`, message: `another task is called ${name}` })
    names.add(name)
  }
  return faults
}

function nameVerification(verifications: Journey['verifications'], at: number): string {
  return verifications[at]?.name ?? `verify_${at + 1}`
}

function buildDag({ dag_id, hops, verifications }: Journey): AssembledDag {
  const calls = hops.map(({ name, ...params }, at): DagTask => {
    const before = hops[at - 1]?.name
    const taken = referencesOf(params).map(({ hop }) => hop)
    return {
      ...{ name, operator: testCall.name, params: params as Record<string, JsonValue>, ...once },
      after: [...new Set([...(before === undefined ? [] : [before]), ...taken])],
      time_limit_s: (params.until?.within_s ?? 0) + margin_s,
    }
  })
  const tests = verifications.map(({ name: _name, hop, ...params }, at): DagTask => {
    return {
      ...{ name: nameVerification(verifications, at), operator: verifyResponseJson.name, ...once },
      ...{ params: params as Record<string, JsonValue>, after: [hop], time_limit_s: verification_limit_s },
    }
  })
  return { format: 1, dag_id, tasks: [...calls, ...tests] }
}
