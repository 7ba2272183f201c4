// Compares two texts in a time that does not tell how many of their characters are equal.
import { timingSafeEqual } from 'node:crypto'

export function equalsInConstantTime(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
