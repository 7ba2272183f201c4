// Cells of tables and details: their text, and the tone of what they say.
import type { ApiObject } from '../client/client.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'faint'
export type PaneCell = { readonly text: string; readonly tone?: Tone }

export type PaneColumn = {
  readonly heading: string
  /** Characters; a growing column also shares the rest of the line. */
  readonly width: number
  readonly grows?: boolean
  /** Hidden on terminals with fewer columns than this. */
  readonly minColumns?: number
}
export type PaneColumnSource = PaneColumn & { readonly cell: (item: ApiObject) => PaneCell }

export const plainCell =
  (name: string, tone?: Tone) =>
  (item: ApiObject): PaneCell => ({ text: formatText(item[name]), ...(tone ? { tone } : {}) })

/** A count that should be zero; any other is bad. */
export const troubleCell =
  (name: string) =>
  (item: ApiObject): PaneCell => ({ text: formatText(item[name]), ...(item[name] ? { tone: 'bad' as const } : {}) })

const stateTones: Readonly<Record<string, Tone>> = {
  ok: 'good',
  live: 'good',
  offered: 'good',
  read: 'good',
  disabled: 'warn',
  absent: 'warn',
  unverified: 'warn',
  RATIFIED: 'good',
  open: 'good',
  active: 'good',
  success: 'good',
  running: 'good',
  queued: 'warn',
  paused: 'warn',
  pending_validation: 'warn',
  starting: 'warn',
  stopping: 'warn',
  PENDING_QUORUM: 'warn',
  PROPOSED: 'warn',
  WITHDRAWN: 'faint',
}

/** Tone of a state; an unknown state is bad. */
export function selectTone(state: string): Tone {
  return stateTones[state] ?? 'bad'
}

/** An absent state has no tone. */
export function formatStateCell(state: unknown): PaneCell {
  return { text: formatText(state), ...(state === undefined ? {} : { tone: selectTone(String(state)) }) }
}

export function formatPending(count: unknown): PaneCell {
  return { text: formatText(count), ...(count ? { tone: 'warn' as const } : {}) }
}

/** UTC, to the second. */
export function formatInstant(instant: unknown): string {
  return formatText(instant).replace('T', ' ').slice(0, 19)
}

/** Four decimals are enough to read. */
export function formatFigure(value: unknown): string | undefined {
  return typeof value === 'number' ? value.toFixed(4) : undefined
}

export function formatText(value: unknown): string {
  return value === undefined || value === null ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
