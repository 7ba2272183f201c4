// Adversarial transcripts: who sends what to a site with guidance, one JSON document a line, by the entry of the attack.
import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** Published classes of attacks on models, their tools and their memory, and on services in general. */
const attackClasses = [
  'audit_tampering',
  'clock_games',
  'confused_deputy',
  'cross_label',
  'cross_tenant',
  'cursor_tampering',
  'data_exfiltration',
  'deduplication_collision',
  'denial_of_learning',
  'direct_injection',
  'forged_identity',
  'hidden_characters',
  'hold_out_gaming',
  'indirect_injection',
  'log_forging',
  'memory_poisoning',
  'name_confusion',
  'privilege_escalation',
  'replay',
  'resource_exhaustion',
  'schema_bomb',
  'secret_harvesting',
  'supersede_hijack',
  'tool_poisoning',
  'trace_takeover',
  'version_confusion',
  'vote_stuffing',
] as const

const person = z.enum(['ada', 'ann', 'bea', 'bob', 'eve', 'lou', 'mallory', 'mole', 'otto', 'oscar', 'svc'])
const statuses = z.union([z.int(), z.array(z.int())])
/** Requests of the model, as `[tool, input]`; it ends its turn then. */
const modelCalls = z.array(z.tuple([z.string(), z.record(z.string(), z.unknown())]))

const step = z.union([
  z.strictObject({
    by: person,
    send: z.string().regex(/^(GET|POST|PATCH|DELETE|PUT) \//),
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    status: statuses,
    /** How often it is sent; `{{n}}` is the number of the request. */
    times: z.int().optional(),
  }),
  /** To the chat of administrators. `outcomes`: of the tools that its model requests. */
  z.strictObject({ by: person, say: z.string(), model: modelCalls.optional(), outcomes: z.array(z.string()) }),
  /** To the chat of everybody. `returns`: the answer of the tools of the service `maps`. */
  z.strictObject({
    ...{ by: person, ask: z.string(), model: modelCalls.optional(), returns: z.string().optional() },
    ...{ outcomes: z.array(z.string()).optional(), trace: z.string().optional(), times: z.int().optional() },
  }),
])
export type AttackStep = z.infer<typeof step>

const transcript = z.strictObject({
  title: z.string().min(8).max(110),
  class: z.enum(attackClasses),
  steps: z.array(step).min(1),
})
export type Transcript = z.infer<typeof transcript>

/** `entry`: the name of a file beside this one. */
export function readTranscripts(entry: string): Transcript[] {
  const lines = readFileSync(new URL(`./transcripts/${entry}.jsonl`, import.meta.url), 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => transcript.parse(JSON.parse(line)))
}

export type TranscriptNames = {
  /** Of objects of the site, such as `victim`. */
  readonly ids: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  readonly now: number
  /** A new trace for each name and number. */
  trace(name: string): string
}

/** `{{victim}}`, `{{n}}`, `{{trace}}`, `{{trace:name}}`, `{{at:-500}}` in texts, and large values as `{"$repeat"}`, `{"$nest"}`, `{"$list"}`, `{"$wide"}`. */
export function expandValue(value: unknown, names: TranscriptNames, n = 0): unknown {
  if (typeof value === 'string') return expandText(value, names, n)
  if (Array.isArray(value)) return value.map((item) => expandValue(item, names, n))
  if (typeof value !== 'object' || value === null) return value
  const of = value as Record<string, unknown>
  if ('$repeat' in of) return String(of.$repeat).repeat(Number(of.times))
  if ('$list' in of) return Array.from({ length: Number(of.$list) }, (_, at) => expandValue(of.of, names, at))
  if ('$wide' in of) return Object.fromEntries(Array.from({ length: Number(of.$wide) }, (_, at) => [`field_${at}`, at]))
  if ('$nest' in of) {
    let nested: unknown = 'the end'
    for (let depth = Number(of.$nest); depth > 0; depth -= 1) nested = { inner: nested }
    return nested
  }
  return Object.fromEntries(Object.entries(of).map(([name, each]) => [name, expandValue(each, names, n)]))
}

export function expandText(text: string, { ids, now, trace }: TranscriptNames, n: number): string {
  return text.replaceAll(/\{\{([a-z_]+)(?::([^}]*))?\}\}/g, (_, name: string, detail = '') => {
    if (name === 'n') return String(n)
    if (name === 'trace') return trace(detail === '' ? `${n}` : detail)
    if (name === 'at') return new Date(now + Number(detail)).toISOString()
    const id = ids[name]
    if (id === undefined) throw new Error(`a transcript names {{${name}}}, which is not an object of the site`)
    return id
  })
}
