// The versions of the signed statement, one row each: how to read it, and how to write it for a peer that supports
// only older versions.

import * as z from 'zod'
import { parseJson } from '../encoding/parse-json.ts'
import { label } from '../label/label.ts'
import { type MessageKind, type MessageKinds, messageKind } from './message-kind.ts'
import { type Statement, statement } from './statement.ts'

/** A statement whose label is not yet checked, so that a missing label gets its own reason. */
export type UnlabelledStatement = Omit<Statement, 'label'> & { readonly label?: unknown }

/** `parse` reads a value into the form of the newest version, with `v` as received; `write` is the reverse, as far as this
 * version can carry it. */
export type StatementFormat = {
  readonly v: number
  readonly parse: (value: unknown) => z.ZodSafeParseResult<UnlabelledStatement>
  readonly write: (statement: Statement) => Readonly<Record<string, unknown>>
}

/** The versions that this site reads and writes, with a schema for the kind of a statement. */
function listFormats(kind: z.ZodType<MessageKind>): readonly StatementFormat[] {
  const version1 = statement.extend({ label: z.unknown().optional(), kind })
  return [{ v: 1, parse: (value) => version1.safeParse(value), write: (content) => ({ ...content, v: 1 }) }]
}

/** The versions of statements of known kinds; of another kind none can be read. */
export function statementFormatsFor({ names }: MessageKinds): readonly StatementFormat[] {
  return listFormats(z.enum(names))
}

/** Of statements of any kind; the operation that takes a kind compares it. */
const formatsOfAnyKind = listFormats(messageKind)

export const newest_v = newestVersion(formatsOfAnyKind)

function newestVersion(formats: readonly StatementFormat[]): number {
  return Math.max(...formats.map(({ v }) => v))
}

export type StatementReading =
  | { readonly read: 'statement'; readonly statement: UnlabelledStatement }
  | { readonly read: 'unknown_version' }
  | { readonly read: 'fault'; readonly error: z.ZodError }

const versioned = z.looseObject({ v: z.unknown() })

/** Reads the newest version and its predecessor: sites are not updated on one day. */
export function readStatement(value: unknown, formats: readonly StatementFormat[]): StatementReading {
  const v = versioned.safeParse(value).data?.v
  const format = formats.find((each) => each.v === v && each.v >= newestVersion(formats) - 1)
  if (!format) return { read: 'unknown_version' }
  const parsed = format.parse(value)
  return parsed.success ? { read: 'statement', statement: parsed.data } : { read: 'fault', error: parsed.error }
}

/**
 * The newest version not above `max_v`, which the peer supports; undefined when this site writes no version that old.
 */
export function selectFormat(max_v: number, formats: readonly StatementFormat[]): StatementFormat | undefined {
  return formats.filter(({ v }) => v <= max_v).sort((a, b) => b.v - a.v)[0]
}

/** Parses the statement in the signed bytes, of any kind; undefined when it cannot be read, or has no valid label. */
export function parseStatement(payload: Uint8Array): Statement | undefined {
  const statement = parseUnlabelledStatement(payload)
  const labelled = label.safeParse(statement?.label)
  return statement && labelled.success ? { ...statement, label: labelled.data } : undefined
}

/** The same for a statement whose label may be missing or malformed. */
export function parseUnlabelledStatement(payload: Uint8Array): UnlabelledStatement | undefined {
  const reading = readStatement(parseJson(payload), formatsOfAnyKind)
  return reading.read === 'statement' ? reading.statement : undefined
}
