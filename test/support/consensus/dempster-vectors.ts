// Published worked examples of evidence combination, converted to bitmasks for the tests of the rule.
import { readFileSync } from 'node:fs'
import * as z from 'zod'

const masses = z.record(z.string().regex(/^[A-Z]+$/), z.number())

const vectors = z.array(
  z.looseObject({
    id: z.string(),
    src: z.string(),
    m1: masses.optional(),
    m2: masses.optional(),
    frame: z.string().optional(),
    K: z.number().optional(),
    conj: masses.optional(),
    dempster: z.union([masses, z.literal('UNDEFINED')]).optional(),
    'dempster_after_shafer_discount_0.9': masses.optional(),
    opinions_bdu: z.array(z.tuple([z.number(), z.number(), z.number()])).optional(),
    BCF_eq_dempster: z.array(z.number()).optional(),
  }),
)

export type PublishedMasses = z.output<typeof masses>

/** Every entry of the file, its source beside it. */
export const dempsterVectors = vectors.parse(
  JSON.parse(readFileSync(new URL('../../data/dempster-shafer-vectors.json', import.meta.url), 'utf8')),
)

/** The singletons that an example speaks of, each a letter, in alphabetical order. */
export function buildFrame(...published: readonly (PublishedMasses | undefined)[]): string {
  const letters = published.flatMap((one) => Object.keys(one ?? {}).flatMap((key) => [...key]))
  return [...new Set(letters)].toSorted().join('')
}

/** Letters as a bitmask over the frame: "AC" in "ABC" is 0b101. */
export function encodeSubset(frame: string, letters: string): number {
  return [...letters].reduce((mask, letter) => mask | (1 << frame.indexOf(letter)), 0)
}

export function encodeMasses(frame: string, published: PublishedMasses): [number, number][] {
  return Object.entries(published).map(([letters, value]) => [encodeSubset(frame, letters), value])
}
