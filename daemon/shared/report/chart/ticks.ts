// Round numbers along the axes of charts, and their text.

/**
 * Returns about `count` round numbers within the bounds. Heckbert, "Nice Numbers for Graph Labels", Graphics Gems,
 * 1990.
 */
export function computeTicks(from: number, to: number, count = 5): number[] {
  const raw = (to - from) / Math.max(1, count)
  if (!(raw > 0) || !Number.isFinite(raw)) return [from]
  const size = 10 ** Math.floor(Math.log10(raw))
  const step = size * ([1, 2, 5].find((times) => raw <= times * size) ?? 10)
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)))
}

/** Formats a number with few digits, deterministically. */
export function formatFigure(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return String(Number(Math.abs(value) < 1 ? value.toPrecision(3) : value.toFixed(2)))
}
