// The versions of the signed statement, one row each: how it is read, and how it is written for a peer that reads no newer one.
import * as z from 'zod'
import { parseJson } from '../encoding/parse-json.ts'
import { label } from '../label/label.ts'
import { type Statement, statement } from './statement.ts'

/** A statement whose label is still to be judged, so that a missing one gets its own reason. */
export type UnlabelledStatement = Omit<Statement, 'label'> & { readonly label?: unknown }

const version1 = statement.extend({ label: z.unknown().optional() })

/** `parse` reads a value into the form of the newest version, with `v` as received; `write` is the reverse, as far as this
 * version can carry it. */
export type StatementFormat = {
  readonly v: number
  readonly parse: (value: unknown) => z.ZodSafeParseResult<UnlabelledStatement>
  readonly write: (said: Statement) => Readonly<Record<string, unknown>>
}

export const statementFormats: readonly StatementFormat[] = [
  { v: 1, parse: (value) => version1.safeParse(value), write: (said) => ({ ...said, v: 1 }) },
]

export const newest_v = newestVersion(statementFormats)

function newestVersion(formats: readonly StatementFormat[]): number {
  return Math.max(...formats.map(({ v }) => v))
}

export type StatementReading =
  | { readonly read: 'statement'; readonly statement: UnlabelledStatement }
  | { readonly read: 'unknown_version' }
  | { readonly read: 'fault'; readonly error: z.ZodError }

const versioned = z.looseObject({ v: z.unknown() })

/** Reads the newest version and the one before: sites are not brought up to date on one day. */
export function readStatement(
  value: unknown,
  formats: readonly StatementFormat[] = statementFormats,
): StatementReading {
  const v = versioned.safeParse(value).data?.v
  const format = formats.find((each) => each.v === v && each.v >= newestVersion(formats) - 1)
  if (!format) return { read: 'unknown_version' }
  const parsed = format.parse(value)
  return parsed.success ? { read: 'statement', statement: parsed.data } : { read: 'fault', error: parsed.error }
}

/**
 * The newest version that a peer reads which reads none beyond `max_v`; undefined when this site writes none so old.
 */
export function selectFormat(
  max_v: number,
  formats: readonly StatementFormat[] = statementFormats,
): StatementFormat | undefined {
  return formats.filter(({ v }) => v <= max_v).sort((a, b) => b.v - a.v)[0]
}

/**
 * The whole statement in the signed bytes; undefined when they hold none that this site reads, or one without a label.
 */
export function parseStatement(payload: Uint8Array): Statement | undefined {
  const said = parseUnlabelledStatement(payload)
  const labelled = label.safeParse(said?.label)
  return said && labelled.success ? { ...said, label: labelled.data } : undefined
}

/** The same for a statement whose label may be missing or malformed. */
export function parseUnlabelledStatement(payload: Uint8Array): UnlabelledStatement | undefined {
  const reading = readStatement(parseJson(payload))
  return reading.read === 'statement' ? reading.statement : undefined
}
