// Whether observed outputs of agents fit the intent schema of their trace, as far as what was observed is whole.
import { parseJson } from '../../../../kernel/encoding/parse-json.ts'
import { redacted_text } from '../../../../kernel/secret/redact-text.ts'
import { cut_mark } from '../observation/bound-payload.ts'
import type { StoredObservation } from '../observation/model.ts'
import { matchSchema } from './match-schema.ts'

type ObservedOutput = Pick<StoredObservation, 'event_type' | 'payload'>

/** True for a mismatch; undefined where nothing can be said: without a schema, for an error, and for what was cut or redacted. */
export function openOutputMatcher(schema: unknown): (observed: ObservedOutput) => boolean | undefined {
  if (schema === undefined || !isWhole(schema)) return () => undefined
  return ({ event_type, payload: { outputs } }) => {
    if (event_type !== 'tool_output' || outputs === undefined || !isWhole(outputs)) return undefined
    const fits = matchSchema(schema, readOutput(outputs))
    return fits === undefined ? undefined : !fits
  }
}

/** An agent without structured content answers in texts: a single one may be JSON. */
function readOutput(outputs: unknown): unknown {
  if (!Array.isArray(outputs) || outputs.length !== 1) return outputs
  const [text] = outputs
  return typeof text === 'string' ? (parseJson(text) ?? text) : outputs
}

/** A payload is bounded already. */
function isWhole(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes(cut_mark) && !value.includes(redacted_text)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => !name.includes(cut_mark) && isWhole(member))
}
