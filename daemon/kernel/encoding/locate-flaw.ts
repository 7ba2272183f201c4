// Finds the place in a text that is not JSON, for the person who wrote it.
import type { JsonLimits } from './json-limits.ts'
import { JsonScanner } from './json-scan.ts'

type LocatedFlaw = { readonly offset: number; readonly detail: string }

/** Undefined for JSON. Occupies the event loop: for texts of the size of a request. */
export function locateFlaw(text: string, limits: JsonLimits): LocatedFlaw | undefined {
  const scan = new JsonScanner(text, limits)
  let goesOn = true
  while (goesOn) goesOn = scan.readToken()
  const { flaw, offset } = scan
  return flaw && { offset, detail: flaw === 'incomplete' ? 'it has no end' : flaw.detail }
}
