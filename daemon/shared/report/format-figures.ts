// Figures of reports as people read them: counts, shares, spans of time, instants, sizes.

/** A whole number with separators of thousands. */
export function formatWhole(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}

/** A share in per cent; near none and near all, a whole number would hide the difference. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 1) return 'under 1 %'
  return `${percent > 99 && percent < 100 ? Math.min(99.9, Number(percent.toFixed(1))) : Math.round(percent)} %`
}

/** A score in [0, 1], with three decimals at most; only 0 and 1 are written as such. */
export function formatFraction(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  const rounded = Number(value.toFixed(3))
  if (rounded === 1 && value < 1) return 'over 0.999'
  return rounded === 0 && value > 0 ? 'under 0.001' : String(rounded + 0)
}

/** A difference with its sign. */
export function formatChange(value: number, decimals = 3): string {
  const text = Math.abs(value).toFixed(decimals)
  if (Number(text) === 0) return text
  return `${value < 0 ? '\u2212' : '+'}${text}`
}

const spanUnits = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** The unit in which a span of this length is measured, in seconds: axes have round multiples of it. */
export function chooseSpanUnit(seconds: number): number {
  return spanUnits.find(([, size]) => seconds >= 2 * size)?.[1] ?? 1
}

/** The two largest units of a span: `3 d 4 h`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const at = spanUnits.findIndex(([, size]) => whole >= size)
  if (at < 0) return '0 s'
  const [unit, size] = spanUnits[at] ?? ['s', 1]
  const [next, next_size] = spanUnits[at + 1] ?? ['s', 1]
  const rest = Math.floor((whole % size) / next_size)
  return `${Math.floor(whole / size)} ${unit}${size > 1 && rest > 0 ? ` ${rest} ${next}` : ''}`
}

/** An instant in UTC: `2026-05-01 12:00`; the text itself where it is not an instant. */
export function formatTime(instant: string | number): string {
  const date = new Date(instant)
  return Number.isNaN(date.valueOf()) ? String(instant) : date.toISOString().slice(0, 16).replace('T', ' ')
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

export function formatSize(bytes: number): string {
  const power = Math.min(byteUnits.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${byteUnits[power]}`
}

/** Coordinates of SVG need one decimal. */
export function round(value: number): number {
  return Number(value.toFixed(1))
}
