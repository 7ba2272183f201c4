// Time zones: how far the clocks of a zone are from UTC at an instant, and when that changes.
import * as z from 'zod'

const day_ms = 86_400_000

/** Formats that show the offset, by the name in lower case: at most as many as this release knows zones. */
const formats = new Map<string, Intl.DateTimeFormat>()

function offsetFormat(zone: string): Intl.DateTimeFormat {
  const key = zone.toLowerCase()
  const known = formats.get(key)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  formats.set(key, format)
  return format
}

/** Whether the name is in the time zone database of this release: `Europe/Berlin`, `UTC`; never an offset. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    offsetFormat(name)
    return true
  } catch {
    return false
  }
}

/** A time zone in settings and requests. */
export const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be a time zone of the IANA database, such as UTC or Europe/Berlin')

/** Milliseconds by which clocks of the zone are ahead of UTC. Throws RangeError for an unknown zone. */
function offsetAt(zone: string, instant: number): number {
  const text = offsetFormat(zone)
    .formatToParts(instant)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours, minutes, seconds = '0'] = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text ?? '') ?? []
  if (sign === undefined) throw new Error(`the offset of ${zone} has an unknown form: ${text}`)
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
  return sign === '-' ? -ms : ms
}

/** What a clock of the zone shows: the epoch milliseconds of the same time in UTC. */
export function readClock(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant)
}

/** The first instant after `from`, at most `to`, whose offset differs; undefined where both ends have the same. */
function findOffsetChange(zone: string, from: number, to: number): number | undefined {
  const before = offsetAt(zone, from)
  if (offsetAt(zone, to) === before) return undefined
  let [last, first] = [from, to]
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (offsetAt(zone, middle) === before) last = middle
    else first = middle
  }
  return first
}

/** The change of offset in the day after the instant. No zone changes its offset twice within two days. */
export function findNextChange(zone: string, instant: number): number | undefined {
  return findOffsetChange(zone, instant, instant + day_ms)
}

/** The latest time that clocks of the zone have shown up to the instant: later than now, once they were put back. */
export function findHighestReading(zone: string, instant: number): number {
  const change = findOffsetChange(zone, instant - day_ms, instant)
  const now = readClock(zone, instant)
  return change === undefined ? now : Math.max(now, readClock(zone, change - 1))
}

/**
 * When clocks of the zone show the reading: once, twice where they are put back, or never where they are put forward.
 * `reached`: the first instant at which they show it or have passed it.
 */
export function findInstants(
  zone: string,
  reading: number,
): { readonly exact: readonly number[]; readonly reached: number } {
  const offsets = [offsetAt(zone, reading - day_ms), offsetAt(zone, reading + day_ms)]
  const [first, last] = [reading - Math.max(...offsets), reading - Math.min(...offsets)]
  const exact = [...new Set([first, last])].filter((instant) => readClock(zone, instant) === reading)
  return { exact, reached: exact[0] ?? findOffsetChange(zone, first, last) ?? last }
}
